package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ConsoleTest {
    @Test
    void aReaderThatIsGoneIsToldByAnExceptionOfItsOwn() {
        Console console = new Console(
                new ClosedStream(),
                new OutputStreamWriter(new ClosedStream(), StandardCharsets.UTF_8),
                Reader.nullReader());
        console.line("waits");
        assertThatThrownBy(console::flush).isInstanceOf(OutputClosedException.class);
        String tooLong = "x".repeat(LineBuffer.FULL);
        assertThatThrownBy(() -> console.line(tooLong)).isInstanceOf(OutputClosedException.class);
        LineBuffer lines = new LineBuffer().append("x");
        assertThatThrownBy(() -> console.lines(lines)).isInstanceOf(OutputClosedException.class);
        console.error("standard error is closed too, and that is nobody's loss");
    }

    @Test
    void keepsOutputAndErrorApart() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        Console console = new Console(out, err, Reader.nullReader());
        console.line("answer");
        console.error("problem");
        console.flush();
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("answer\n");
        assertThat(err).hasToString("problem\n");
    }

    /** Other processes can cause remarks, so the number that is kept is bounded. */
    @Test
    void aRemarkIsSaidOnceAndKeptForTheAnswer() {
        StringWriter err = new StringWriter();
        Console console = new Console(new ByteArrayOutputStream(), err, Reader.nullReader());
        console.remark("stacks end early");
        console.remark("stacks end early");
        assertThat(err).hasToString("bpf4j: stacks end early\n");
        assertThat(console.remarks()).containsExactly(Remark.of("stacks end early"));
        for (int i = 0; i < 1000; i++) {
            console.remark("file " + i);
        }
        assertThat(console.remarks())
                .hasSize(101)
                .last()
                .extracting(Remark::message)
                .asString()
                .startsWith("and 901 more remarks");
    }

    /** Lines of a buffer are written at once, after those that wait. */
    @Test
    void linesKeepTheirOrder() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
        console.line("ä");
        LineBuffer lines = new LineBuffer().append("2\n");
        console.lines(lines);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("ä\n2\n");
        assertThat(lines.size()).isZero();
    }

    private static final class ClosedStream extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
        }
    }
}
