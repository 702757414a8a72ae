package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FailureHintsTest {
    private static final long ALL = 0x1ffffffffffL;
    private static final ProcessRights NOBODY = with();
    private static final ProcessRights ROOT = ofSet(ALL);
    private static final ProcessRights TRACER = with(Capability.CAP_BPF, Capability.CAP_PERFMON);
    private static final ProcessRights ROOTLESS = new ProcessRights(ALL, false, false, 40, 2, 3, 1024);

    private static final Command<?> MAP = MapCommand.Create.of(1, "events", 4, 8, 16);
    private static final Command<?> UPROBE = PerfCommand.Open.probe("uprobe", 8, 0, "/bin/x", 0, -1, 0);
    private static final Command<?> CLOCK = PerfCommand.Open.tracepoint("sched:sched_switch", 8, -1, 0);

    private static ProcessRights with(Capability... capabilities) {
        return ofSet(Stream.of(capabilities)
                .mapToLong(capability -> 1L << capability.number())
                .sum());
    }

    private static ProcessRights ofSet(long effective) {
        return new ProcessRights(effective, true, false, 40, 2, 3, 1024);
    }

    @Test
    void missingCapabilitiesAreNamedWithTheSysctl() {
        assertThat(hint(MAP, Errno.EPERM, NOBODY))
                .startsWith("this process lacks CAP_BPF; run it as root")
                .contains("tracing programs also require CAP_PERFMON", "kernel.unprivileged_bpf_disabled is 2");
        assertThat(hint(program(ProgramType.KPROBE), Errno.EPERM, NOBODY))
                .startsWith("this process lacks CAP_BPF and CAP_PERFMON; run it as root");
        assertThat(hint(CLOCK, Errno.EACCES, NOBODY))
                .startsWith("this process lacks CAP_PERFMON;")
                .contains("kernel.perf_event_paranoid is 3");
    }

    /** They are read from seven files, and a process can have thousands of calls fail. */
    @Test
    void rightsAreReadOnlyForAHintThatDependsOnThem() {
        AtomicInteger reads = new AtomicInteger();
        Supplier<ProcessRights> rights = () -> {
            reads.incrementAndGet();
            return NOBODY;
        };
        assertThat(FailureHints.explained(UPROBE, Errno.ENOENT.number(), rights))
                .hasMessageContaining("ENOENT");
        assertThat(reads).hasValue(0);
        assertThat(FailureHints.explained(UPROBE, Errno.EACCES.number(), rights))
                .hasMessageContaining("CAP_PERFMON");
        assertThat(reads).hasValue(1);
    }

    @Test
    void aCapabilityThatIsThereIsNotNamedAsMissing() {
        ProcessRights bpf = with(Capability.CAP_BPF);
        assertThat(hint(program(ProgramType.KPROBE), Errno.EPERM, bpf))
                .startsWith("this process lacks CAP_PERFMON;")
                .doesNotContain("CAP_BPF");
        assertThat(hint(program(ProgramType.KPROBE), Errno.EPERM, with(Capability.CAP_PERFMON)))
                .startsWith("this process lacks CAP_BPF;")
                .doesNotContain("CAP_PERFMON");
        assertThat(hint(MAP, Errno.EPERM, with(Capability.CAP_PERFMON)))
                .startsWith("this process lacks CAP_BPF;")
                .doesNotContain("CAP_PERFMON");
    }

    @Test
    void theCapabilityDependsOnWhatIsAsked() {
        ProcessRights bpf = with(Capability.CAP_BPF);
        assertThat(hint(program(ProgramType.XDP), Errno.EPERM, bpf)).startsWith("this process lacks CAP_NET_ADMIN;");
        assertThat(hint(program(ProgramType.CGROUP_SOCK), Errno.EPERM, TRACER)).contains("lacks CAP_NET_ADMIN;");
        assertThat(hint(program(ProgramType.SOCKET_FILTER), Errno.EPERM, bpf)).contains("a policy");
        assertThat(hint(MapCommand.Create.of(MapType.SOCKMAP.number(), "s", 4, 8, 1), Errno.EPERM, TRACER))
                .contains("lacks CAP_NET_ADMIN;");
        assertThat(hint(new ProgCommand.EnableStats(), Errno.EPERM, TRACER)).contains("lacks CAP_SYS_ADMIN;");
        assertThat(hint(new ObjectCommand.FdById(ObjectCommand.Kind.MAP, 1), Errno.EPERM, TRACER))
                .contains("lacks CAP_SYS_ADMIN;");
        assertThat(hint(new LinkCommand.Query("x", null, 1, 46, false, false, true, 1), Errno.EPERM, TRACER))
                .contains("lacks CAP_NET_ADMIN;");
        assertThat(hint(new LinkCommand.TaskFdQuery(7, 3), Errno.EPERM, TRACER)).contains("lacks CAP_SYS_ADMIN;");
    }

    @Test
    void aReadablePinCanBeOpenedReadOnly() {
        Path pin = Path.of("/sys/fs/bpf/x");
        assertThat(hint(new ObjectCommand.Get(pin, 0), Errno.EACCES, NOBODY))
                .endsWith("for reading and writing; a map or program can be opened read-only");
        assertThat(hint(new ObjectCommand.Get(pin, 8), Errno.EACCES, NOBODY))
                .endsWith("may not open the pin for the requested access");
    }

    @Test
    void aLinkMayHaveAnotherProgramThanExpected() {
        try (Fd fd = new ScriptedKernel().newFd("link")) {
            Command<?> update = new LinkCommand.Update(fd, fd, fd, 0);
            assertThat(hint(update, Errno.EPERM, TRACER)).isEqualTo("the link does not have the expected program");
            assertThat(hint(update, Errno.EPERM, NOBODY)).startsWith("this process lacks CAP_BPF");
            assertThat(hint(new LinkCommand.Update(fd, fd, null, 0), Errno.EPERM, TRACER))
                    .contains("a policy");
        }
    }

    @Test
    void anErrorOfACallHasItsOwnReason() {
        try (Fd fd = new ScriptedKernel().newFd("link")) {
            Command<?> update = new LinkCommand.Update(fd, fd, null, 0);
            assertThat(hint(update, Errno.EEXIST, TRACER)).startsWith("another link attaches the program");
            for (Errno errno : List.of(Errno.EINVAL, Errno.EOPNOTSUPP)) {
                assertThat(hint(update, errno, TRACER)).contains("can't update links of this kind");
                assertThat(hint(new LinkCommand.Detach(fd), errno, TRACER)).endsWith("only by closing them");
            }
            assertThat(hint(update, Errno.ENOLINK, TRACER)).startsWith("the link is detached");
            assertThat(hint(update, Errno.EBUSY, TRACER)).isNull();
            assertThat(hint(update, Errno.ENOMEM, TRACER)).as("as of each call").startsWith("out of memory");
        }
        Command<?> query = new LinkCommand.TaskFdQuery(7, 3);
        assertThat(hint(query, Errno.EBADF, TRACER)).isEqualTo("the process has no such descriptor");
        assertThat(hint(query, Errno.ENOENT, TRACER)).startsWith("there is no such process");
        assertThat(hint(query, Errno.ENOTSUPP, TRACER)).endsWith("Links.byId tells what a link is");
    }

    @Test
    void aBetterHintReplacesThatOfTheCall() {
        SyscallException failure = FailureHints.explained(MAP, Errno.ENOMEM.number(), TRACER);
        assertThat(FailureHints.withHint(failure, "use fewer pages"))
                .hasMessage(failure.call() + " failed: ENOMEM (Cannot allocate memory): use fewer pages");
        assertThat(FailureHints.withHint(failure, null)).isSameAs(failure);
    }

    /** Linux 6.16, and updates of older ones: commit ba677dbe77af. */
    @Test
    void aSingleUprobeTakesMoreThanTheRightToTrace() {
        assertThat(hint(UPROBE, Errno.EACCES, TRACER))
                .startsWith("this process lacks CAP_SYS_ADMIN;")
                .contains("CAP_PERFMON is enough for a uprobe_multi link");
        assertThat(hint(UPROBE, Errno.EACCES, ROOT)).contains("a policy").doesNotContain("CAP_PERFMON");
    }

    /** Before Linux 5.8 there was neither of the two. */
    @Test
    void anOldKernelAsksForTheCapabilityThatItKnows() {
        ProcessRights old = new ProcessRights(0, true, false, 37, 1, 2, 1024);
        assertThat(hint(program(ProgramType.KPROBE), Errno.EPERM, old))
                .startsWith("this process lacks CAP_SYS_ADMIN;")
                .doesNotContain("CAP_BPF", "CAP_PERFMON");
    }

    @Test
    void capabilitiesOfAnotherUserNamespaceDoNotCount() {
        for (Command<?> command : List.of(MAP, program(ProgramType.KPROBE), UPROBE, CLOCK)) {
            assertThat(hint(command, Errno.EPERM, ROOTLESS))
                    .contains("in the initial user namespace, but this process is in another one")
                    .doesNotContain("policy", "lacks");
        }
        try (Fd token = new ScriptedKernel().newFd("token")) {
            assertThat(hint(new TokenCommand.With<>(MAP, token), Errno.EPERM, ROOTLESS))
                    .contains("delegate_maps", "CAP_BPF in its own user namespace");
        }
    }

    private static Command<?> program(ProgramType type) {
        return ProgCommand.Load.of(type.number(), "x", new byte[0], "GPL");
    }

    @Test
    void withAllCapabilitiesItIsAPolicy() {
        assertThat(hint(MAP, Errno.EPERM, ROOT))
                .startsWith("this process has CAP_BPF, so a policy of the kernel refuses the call"
                        + " (lockdown, or a security module)")
                .doesNotContain("run it as root");
        assertThat(hint(CLOCK, Errno.EACCES, ROOT)).contains("policy");
        assertThat(hint(MAP, Errno.EPERM, new ProcessRights(ALL, true, true, 40, 2, 2, 1024)))
                .contains("the seccomp filter of this process");
    }

    @Test
    void whereTheRightsAreUnknownNothingIsClaimedOfThem() {
        assertThat(hint(MAP, Errno.EPERM, new ProcessRights(ProcessRights.UNKNOWN, true, false, -1, -1, -2, -1)))
                .contains("it requires CAP_BPF, and /proc does not show");
    }

    @Test
    void filesSayWhoMayOpenThem() {
        assertThat(hint(new FileCommand.Open(Path.of("/x"), 0), Errno.EACCES, NOBODY))
                .isEqualTo("this user may not open the file");
        assertThat(hint(new FileCommand.Open(Path.of("/x"), 0), Errno.EACCES, ROOT))
                .contains("policy");
        assertThat(hint(new FileCommand.DetachedMount("tracefs"), Errno.EPERM, NOBODY))
                .contains("lacks CAP_SYS_ADMIN;");
    }

    @Test
    void tooManyFilesTellsTheLimit() {
        assertThat(hint(UPROBE, Errno.EMFILE, NOBODY)).contains("RLIMIT_NOFILE", "1024", "ulimit -n, or attach");
        assertThat(hint(MAP, Errno.EMFILE, NOBODY)).endsWith("(1024); raise it with ulimit -n");
        assertThat(hint(UPROBE, Errno.EMFILE, new ProcessRights(0, true, false, -1, -1, -2, -1)))
                .doesNotContain("-1");
    }

    @Test
    void aMissingKernelOptionIsNamed() {
        assertThat(hint(MAP, Errno.ENOSYS, ROOT)).contains("CONFIG_BPF_SYSCALL");
        assertThat(hint(UPROBE, Errno.ENOSYS, ROOT)).contains("CONFIG_PERF_EVENTS");
    }

    @Test
    void aTestRunSaysWhatItTakes() {
        try (Fd fd = new ScriptedKernel().newFd("program")) {
            Command<?> run = new ProgCommand.TestRun(fd, new byte[4], 9, new byte[0], 0, 0, 0, 0, 0);
            assertThat(hint(run, Errno.ENOTSUPP, ROOT)).contains("can't run programs of this type");
            assertThat(hint(run, Errno.ENOSPC, ROOT)).contains("9 bytes for data, 0 bytes for the context");
            assertThat(hint(run, Errno.EINVAL, ROOT)).contains("at least 14 bytes");
        }
    }

    @Test
    void whatATokenNeedsIsExplained() {
        try (Fd fd = new ScriptedKernel().newFd("/sys/fs/bpf")) {
            Command<?> create = new TokenCommand.Create(fd);
            assertThat(hint(create, Errno.EINVAL, ROOT)).contains("root directory", "6.9");
            assertThat(hint(create, Errno.EPERM, ROOT)).contains("mounted for the user namespace");
            assertThat(hint(create, Errno.EOPNOTSUPP, ROOT)).contains("in the initial user namespace");
            assertThat(hint(create, Errno.ENOENT, ROOT)).contains("delegate_cmds");
        }
    }

    @Test
    void whatIsClearHasNoHint() {
        assertThat(hint(MAP, Errno.EINVAL, ROOT)).isNull();
        assertThat(hint(MAP, Errno.ENOENT, ROOT)).isNull();
    }

    private static @Nullable String hint(Command<?> command, Errno errno, ProcessRights rights) {
        return FailureHints.of(command, errno.number(), rights);
    }
}
