package io.bpf4j.sys;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PidNamespaceTest {
    @Test
    void theInodeIsTheOneThatTheKernelNames() throws IOException {
        String named = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();

        if (named.equals("pid:[4026531836]")) { // the initial namespace
            assertThat(PidNamespace.own()).isEqualTo(new PidNamespace(0, 0));
        } else {
            assertThat("pid:[" + PidNamespace.own().inode() + "]").isEqualTo(named);
            assertThat(PidNamespace.own().device()).isPositive();
        }
    }
}
