package io.bpf4j.cli.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.VerifierException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class ErrorTextTest {
    private static final int EINVAL = 22;

    @Test
    void filesAreNamedWithWhatIsWrong() {
        assertThat(ErrorText.of(new NoSuchFileException("/x"))).isEqualTo("/x: no such file");
        assertThat(ErrorText.of(new AccessDeniedException("/x"))).isEqualTo("/x: permission denied");
        assertThat(ErrorText.of(new FileSystemException("/x", null, "Is a directory")))
                .isEqualTo("/x: Is a directory");
        assertThat(ErrorText.of(new FileSystemException("/x"))).isEqualTo("/x: can't be read");
        assertThat(ErrorText.of(new MalformedDataException("/x", 16, "cut short")))
                .isEqualTo("/x at 0x10: cut short");
        assertThat(ErrorText.of(new IOException())).isEqualTo("IOException");
    }

    @Test
    void theVerifiersReasonIsShown() {
        assertThat(ErrorText.of(new VerifierException("probe", EINVAL, "0: (61) r0 = *(u32 *)(r2 +0)\nR2 !read_ok\n")))
                .contains("probe")
                .contains("R2 !read_ok");
    }

    @Test
    void aDefectIsCalledOne() {
        assertThat(ErrorText.of(new IllegalStateException("boom")))
                .startsWith("internal error")
                .contains("boom");
    }

    @Test
    void wantOfMemoryAndOfDescriptorsIsNoDefectOfOurs() {
        assertThat(ErrorText.of(new OutOfMemoryError("Java heap space")))
                .isEqualTo("out of memory (Java heap space): give Java more, such as by JAVA_TOOL_OPTIONS=-Xmx1g");
        assertThat(ErrorText.of(new ExceptionInInitializerError(new IOException("Too many open files"))))
                .contains("Too many open files", "ulimit -n")
                .doesNotContain("internal error");
        assertThat(ErrorText.of(new FileSystemException("x.o", null, "Too many open files")))
                .isEqualTo("x.o: Too many open files; the limit of this process is reached (ulimit -n)");
    }
}
