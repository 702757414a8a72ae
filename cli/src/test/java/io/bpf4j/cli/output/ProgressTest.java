package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ProgressTest {
    private final StringWriter err = new StringWriter();

    private Console console(boolean terminal) {
        return Console.withProgress(OutputStream.nullOutputStream(), err, Reader.nullReader(), terminal);
    }

    @Test
    void theLineIsOverwrittenAndRemoved() {
        Console console = console(true);
        console.progress("one");
        console.progress("two");
        console.progress("");
        console.progress("");
        assertThat(err).hasToString("\r\u001b[Kone\r\u001b[Ktwo\r\u001b[K");
    }

    @Test
    void aMessageTakesThePlaceOfTheLineAndTheLineComesBelow() {
        Console console = console(true);
        console.progress("busy");
        console.error("message");
        console.progress("");
        console.error("end");
        assertThat(err).hasToString("\r\u001b[Kbusy\r\u001b[Kmessage\nbusy\r\u001b[Kend\n");
    }

    @Test
    void aLongLineIsCut() {
        console(true).progress("x".repeat(200));
        assertThat(err.toString()).hasSize("\r\u001b[K".length() + 79);
    }

    @Test
    void aFileGetsNothing() {
        Console console = console(false);
        try (Progress progress = new Progress(console, "working", Duration.ZERO)) {
            assertThat(progress).isNotNull();
            console.progress("busy");
            console.error("message");
        }
        assertThat(err).hasToString("message\n");
    }

    @Test
    void quickWorkSaysNothing() {
        Console console = console(true);
        new Progress(console, "working", Duration.ofDays(1)).close();
        assertThat(err).hasToString("");
    }

    @Test
    @Timeout(300) // against a hang
    void slowWorkSaysWhatItIs() throws InterruptedException {
        Console console = console(true);
        try (Progress progress = new Progress(console, "working", Duration.ZERO)) {
            assertThat(progress).isNotNull();
            awaitLine("bpf4j: working, \\d+ s");
        }
        assertThat(err.toString()).endsWith("\r\u001b[K");
    }

    /** Until there is a line that a regular expression fits to: on a busy machine it is late, and says more seconds. */
    private void awaitLine(String pattern) throws InterruptedException {
        while (!Pattern.compile(pattern).matcher(err.toString()).find()) {
            Thread.sleep(1);
        }
    }
}
