package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import org.junit.jupiter.api.Test;

class ConsoleTest {
    @Test
    void aReaderThatIsGoneIsToldByAnExceptionOfItsOwn() {
        Console console = new Console(new ClosedWriter(), new ClosedWriter(), Reader.nullReader());
        assertThatThrownBy(() -> console.line("x")).isInstanceOf(OutputClosedException.class);
        assertThatThrownBy(console::flush).isInstanceOf(OutputClosedException.class);
        console.error("standard error is closed too, and that is nobody's loss");
    }

    @Test
    void keepsOutputAndErrorApart() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Console console = new Console(out, err, Reader.nullReader());
        console.line("answer");
        console.error("problem");
        console.flush();
        assertThat(out).hasToString("answer\n");
        assertThat(err).hasToString("problem\n");
    }

    private static final class ClosedWriter extends Writer {
        @Override
        public void write(char[] buffer, int offset, int length) throws IOException {
            throw new IOException("Broken pipe");
        }

        @Override
        public void flush() throws IOException {
            throw new IOException("Broken pipe");
        }

        @Override
        public void close() {}
    }
}
