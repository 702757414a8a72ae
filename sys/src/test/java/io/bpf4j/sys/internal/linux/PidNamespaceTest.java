package io.bpf4j.sys.internal.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PidNamespaceTest {
    @Test
    void theInodeIsTheOneThatTheKernelNames() throws IOException {
        String named = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
        PidNamespace own = PidNamespace.own(Host.running());

        if (named.equals("pid:[4026531836]")) { // the initial namespace
            assertThat(own).isEqualTo(new PidNamespace(0, 0));
        } else {
            assertThat("pid:[" + own.inode() + "]").isEqualTo(named);
            assertThat(own.device()).isPositive();
        }
    }
}
