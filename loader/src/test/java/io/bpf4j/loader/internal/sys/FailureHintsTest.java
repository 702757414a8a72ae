package io.bpf4j.loader.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.ProgramType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailureHintsTest {
    private static final long ALL = 0x1ffffffffffL;
    private static final ProcessRights NOBODY = new ProcessRights(0, 2, 3, 1024);
    private static final ProcessRights ROOT = new ProcessRights(ALL, 2, 2, 1024);

    private static final Command<?> MAP = MapCommand.Create.of(1, "events", 4, 8, 16);
    private static final Command<?> EVENT = PerfCommand.Open.probe("uprobe", 8, 0, "/bin/x", 0, -1, 0);

    @Test
    void missingCapabilitiesAreNamedWithTheSysctl() {
        assertThat(hint(MAP, Errno.EPERM, NOBODY))
                .contains("CAP_BPF", "CAP_PERFMON", "CAP_SYS_ADMIN", "kernel.unprivileged_bpf_disabled is 2");
        assertThat(hint(EVENT, Errno.EACCES, NOBODY)).contains("CAP_PERFMON", "kernel.perf_event_paranoid is 3");
    }

    @Test
    void halfTheCapabilitiesAreToldFromNone() {
        ProcessRights bpfOnly = new ProcessRights(1L << ProcessRights.CAP_BPF, 2, 2, 1024);
        assertThat(hint(MAP, Errno.EPERM, bpfOnly)).contains("tracing needs CAP_PERFMON too");
    }

    @Test
    void theCapabilityDependsOnTheKindOfProgram() {
        ProcessRights bpfOnly = new ProcessRights(1L << ProcessRights.CAP_BPF, 2, 2, 1024);
        ProcessRights tracing =
                new ProcessRights(1L << ProcessRights.CAP_BPF | 1L << ProcessRights.CAP_PERFMON, 2, 2, 1024);
        assertThat(hint(program(ProgramType.KPROBE), Errno.EPERM, bpfOnly)).contains("CAP_PERFMON too");
        assertThat(hint(program(ProgramType.XDP), Errno.EPERM, bpfOnly)).contains("CAP_NET_ADMIN too");
        assertThat(hint(program(ProgramType.CGROUP_SOCK), Errno.EPERM, tracing)).contains("CAP_NET_ADMIN too");
        assertThat(hint(program(ProgramType.SOCKET_FILTER), Errno.EPERM, bpfOnly))
                .contains("policy");
        assertThat(hint(new ProgCommand.EnableStats(), Errno.EPERM, tracing)).contains("CAP_SYS_ADMIN");
    }

    private static Command<?> program(ProgramType type) {
        return ProgCommand.Load.of(type.number(), "x", new byte[0], "GPL");
    }

    @Test
    void withAllCapabilitiesItIsAPolicy() {
        assertThat(hint(MAP, Errno.EPERM, ROOT)).contains("policy").doesNotContain("run as root");
        assertThat(hint(EVENT, Errno.EACCES, ROOT)).contains("policy");
    }

    @Test
    void tooManyFilesTellsTheLimit() {
        assertThat(hint(EVENT, Errno.EMFILE, NOBODY)).contains("RLIMIT_NOFILE", "1024", "ulimit -n");
        assertThat(hint(EVENT, Errno.EMFILE, new ProcessRights(0, -1, -2, -1))).doesNotContain("-1");
    }

    @Test
    void aMissingKernelOptionIsNamed() {
        assertThat(hint(MAP, Errno.ENOSYS, ROOT)).contains("CONFIG_BPF_SYSCALL");
        assertThat(hint(EVENT, Errno.ENOSYS, ROOT)).contains("CONFIG_PERF_EVENTS");
    }

    @Test
    void aTestRunSaysWhatItTakes() {
        try (Fd fd = new ScriptedKernel().newFd("program")) {
            Command<?> run = new ProgCommand.TestRun(fd, new byte[4], 9, new byte[0], 0, 0, 0, 0);
            assertThat(hint(run, Errno.ENOTSUPP, ROOT)).contains("can't run this kind of program");
            assertThat(hint(run, Errno.ENOSPC, ROOT)).contains("9 bytes for data, 0 for the context");
            assertThat(hint(run, Errno.EINVAL, ROOT)).contains("14 bytes at least");
        }
    }

    @Test
    void whatATokenNeedsIsExplained() {
        try (Fd fd = new ScriptedKernel().newFd("/sys/fs/bpf")) {
            Command<?> create = new TokenCommand.Create(fd);
            assertThat(hint(create, Errno.EINVAL, ROOT)).contains("root directory", "6.9");
            assertThat(hint(create, Errno.EPERM, ROOT)).contains("mounted for the user namespace");
            assertThat(hint(create, Errno.EOPNOTSUPP, ROOT)).contains("other than the first");
            assertThat(hint(create, Errno.ENOENT, ROOT)).contains("delegate_cmds");
        }
    }

    @Test
    void whatIsClearHasNoHint() {
        assertThat(hint(MAP, Errno.EINVAL, ROOT)).isNull();
        assertThat(hint(MAP, Errno.ENOENT, ROOT)).isNull();
    }

    @Test
    void rightsAreReadFromProc(@TempDir Path proc) throws IOException {
        Files.createDirectories(proc.resolve("self"));
        Files.createDirectories(proc.resolve("sys/kernel"));
        Files.writeString(proc.resolve("self/status"), "Name:\tjava\nCapEff:\t000000c000200000\n");
        Files.writeString(proc.resolve("self/limits"), """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            1024                 1048576              files
                """);
        Files.writeString(proc.resolve("sys/kernel/unprivileged_bpf_disabled"), "1\n");
        Files.writeString(proc.resolve("sys/kernel/perf_event_paranoid"), "-1\n");
        ProcessRights rights = ProcessRights.read(proc);
        assertThat(rights).isEqualTo(new ProcessRights(0xc000200000L, 1, -1, 1024));
        assertThat(rights.has(ProcessRights.CAP_BPF)).isTrue();
        assertThat(rights.has(ProcessRights.CAP_PERFMON)).isTrue();
        assertThat(rights.has(ProcessRights.CAP_SYS_ADMIN)).isTrue();
        assertThat(rights.has(24)).isFalse();
    }

    @Test
    void whatCantBeReadIsUnknown(@TempDir Path empty) {
        assertThat(ProcessRights.read(empty)).isEqualTo(new ProcessRights(0, -1, -2, -1));
    }

    private static @Nullable String hint(Command<?> command, Errno errno, ProcessRights rights) {
        return FailureHints.of(command, errno.number(), rights);
    }
}
