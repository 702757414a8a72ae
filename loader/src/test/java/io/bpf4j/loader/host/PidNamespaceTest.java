package io.bpf4j.loader.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PidNamespaceTest {
    @Test
    void theInodeIsTheOneThatTheKernelNames() throws IOException {
        String named = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();

        assertThat("pid:[" + PidNamespace.own().inode() + "]").isEqualTo(named);
        assertThat(PidNamespace.own().device()).isPositive();
    }
}
