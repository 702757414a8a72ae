package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class WarningsTest {
    private final StringWriter err = new StringWriter();
    private final System.Logger logger = new Warnings(
                    new Console(OutputStream.nullOutputStream(), err, Reader.nullReader()))
            .getLogger("io.bpf4j", WarningsTest.class.getModule());

    @Test
    void aWarningIsOneLineOfThisCommand() {
        logger.log(System.Logger.Level.WARNING, "object.o: going on {without} it");
        assertThat(err).hasToString("bpf4j: object.o: going on {without} it\n");
    }

    @Test
    void whatLedToItIsThereAndNoStack() {
        logger.log(System.Logger.Level.ERROR, "nobody closed it", new IOException("gone"));
        logger.log(System.Logger.Level.WARNING, "{0} of {1}", 1, "two");
        assertThat(err).hasToString("bpf4j: nobody closed it: gone\nbpf4j: 1 of two\n");
    }

    @Test
    void whatDrivesATerminalIsEscaped() {
        logger.log(System.Logger.Level.WARNING, "name \u001b[2J");
        assertThat(err.toString()).doesNotContain("\u001b");
    }

    @Test
    void lesserMattersAreNotSaid() {
        logger.log(System.Logger.Level.INFO, "by the way");
        logger.log(System.Logger.Level.OFF, "never");
        assertThat(err.toString()).isEmpty();
    }
}
