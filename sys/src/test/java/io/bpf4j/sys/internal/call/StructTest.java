package io.bpf4j.sys.internal.call;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Text that the kernel leaves in a buffer: names, and logs that quote what an object says of itself. */
class StructTest {
    private static String text(String bytes) {
        return Struct.text(MemorySegment.ofArray(bytes.getBytes(ISO_8859_1)));
    }

    @Test
    void textEndsAtTheFirstNulOrWithTheBuffer() {
        assertThat(text("R0 !read_ok\n\0rest")).isEqualTo("R0 !read_ok\n");
        assertThat(text("R0 !read_ok")).isEqualTo("R0 !read_ok");
        assertThat(text("\0")).isEmpty();
        assertThat(text("")).isEmpty();
    }

    @Test
    void whatIsNoUtf8DoesNotMatter() {
        assertThat(text("; gr\u00c3\u00bc\u00c3\u009fe\n")).isEqualTo("; gr\u00fc\u00dfe\n");
        assertThat(text("; \u00fc\u00ff\u0080 = 1\nR0 !read_ok\n"))
                .isEqualTo("; \ufffd\ufffd\ufffd = 1\nR0 !read_ok\n");
        assertThat(text("cut in half \u00c3")).isEqualTo("cut in half \ufffd");
    }

    @Test
    void aLongLineIsOneLine() {
        assertThat(text("x".repeat(1 << 20) + "\n")).hasSize((1 << 20) + 1);
    }
}
