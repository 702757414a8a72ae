package io.bpf4j.sys.internal.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JitTest {
    @TempDir
    private Path sysctls;

    @Test
    void aKernelWithoutIsToldFromANamespaceWithoutItsFile() throws IOException {
        assertThat(Jit.read(sysctls)).isEqualTo(Jit.UNKNOWN);
        Files.writeString(sysctls.resolve("netdev_max_backlog"), "1000\n");
        assertThat(Jit.read(sysctls)).isEqualTo(Jit.MISSING);
        Files.writeString(sysctls.resolve("bpf_jit_enable"), "0\n");
        assertThat(Jit.read(sysctls)).isEqualTo(Jit.OFF);
        Files.writeString(sysctls.resolve("bpf_jit_enable"), "1\n");
        assertThat(Jit.read(sysctls)).isEqualTo(Jit.ON);
    }
}
