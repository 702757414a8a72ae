package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessRightsTest {
    @Test
    void rightsAreReadFromProc(@TempDir Path proc) throws IOException {
        Files.createDirectories(proc.resolve("self/ns"));
        Files.createDirectories(proc.resolve("sys/kernel"));
        Files.createSymbolicLink(proc.resolve("self/ns/user"), Path.of("user:[4026532177]"));
        Files.writeString(
                proc.resolve("self/status"), "Name:\tjava\nCapEff:\t000000c000200000\nNoNewPrivs:\t0\nSeccomp:\t2\n");
        Files.writeString(proc.resolve("self/limits"), """
            Limit                     Soft Limit           Hard Limit           Units
            Max open files            1024                 1048576              files
            """);
        Files.writeString(proc.resolve("sys/kernel/cap_last_cap"), "40\n");
        Files.writeString(proc.resolve("sys/kernel/unprivileged_bpf_disabled"), "1\n");
        Files.writeString(proc.resolve("sys/kernel/perf_event_paranoid"), "-1\n");
        ProcessRights rights = ProcessRights.read(proc);
        assertThat(rights).isEqualTo(new ProcessRights(0xc000200000L, false, true, 40, 1, -1, 1024));
        assertThat(rights.has(Capability.CAP_BPF)).isTrue();
        assertThat(rights.has(Capability.CAP_NET_ADMIN)).isTrue();
        assertThat(rights.has(Capability.CAP_SYS_PTRACE)).isFalse();
    }

    @Test
    void theFirstUserNamespaceIsKnownByItsNumber(@TempDir Path proc) throws IOException {
        Files.createDirectories(proc.resolve("self/ns"));
        Files.createSymbolicLink(proc.resolve("self/ns/user"), Path.of("user:[4026531837]"));
        assertThat(ProcessRights.read(proc).inFirstUserNamespace()).isTrue();
    }

    @Test
    void whatCantBeReadIsUnknown(@TempDir Path empty) {
        ProcessRights rights = ProcessRights.read(empty);
        assertThat(rights).isEqualTo(new ProcessRights(ProcessRights.UNKNOWN, true, false, -1, -1, -2, -1));
        assertThat(rights.lacking(List.of(Capability.CAP_BPF))).isEmpty();
    }
}
