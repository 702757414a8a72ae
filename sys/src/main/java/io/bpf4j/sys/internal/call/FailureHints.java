package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The usual reason for an error, and a remedy: appended to the error number in a message. */
public final class FailureHints {
    private FailureHints() {}

    /** The failure of a command as an exception, with hints from this process's rights and limits. */
    public static SyscallException explained(Command<?> command, int errnoNumber, ProcessRights rights) {
        return explained(command, errnoNumber, () -> rights);
    }

    /**
     * The same, but reads the rights only if the hint depends on them: reading them takes longer than most calls, and a
     * hostile process can cause thousands of refusals.
     */
    static SyscallException explained(Command<?> command, int errnoNumber, Supplier<ProcessRights> rights) {
        return new SyscallException(command.call(), errnoNumber, of(command, errnoNumber, rights));
    }

    /** The capabilities that a command of bpf(2) needs and this process lacks; null if it has all. */
    public static @Nullable String missingRights(Command<?> command, ProcessRights rights) {
        return bpf(command, Errno.EACCES, rights);
    }

    /** Whether the error is about the state of this process or machine, not about what a command asks for. */
    public static boolean isAboutProcess(Errno errno) {
        return switch (errno) {
            case EPERM, ENOSYS, EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR -> true;
            default -> false;
        };
    }

    /** The hint, or null if the error is self-explanatory or no hint is known. */
    static @Nullable String of(Command<?> command, int errnoNumber, ProcessRights rights) {
        return of(command, errnoNumber, () -> rights);
    }

    private static @Nullable String of(Command<?> command, int errnoNumber, Supplier<ProcessRights> rights) {
        Errno errno = Errno.of(errnoNumber);
        if (command instanceof TokenCommand.Create) {
            return token(errno);
        }
        return switch (errno) {
            case EPERM, EACCES -> refused(command, errno, rights.get());
            case EMFILE ->
                "this process has reached its limit of open files, RLIMIT_NOFILE"
                        + value(rights.get().openFiles()) + "; raise it with ulimit -n"
                        + (command instanceof PerfCommand<?>
                                ? ", or attach fewer single probes: a uprobe_multi link needs one file descriptor for"
                                        + " all its probes"
                                : "");
            case ENFILE -> "the machine has reached its limit of open files, sysctl fs.file-max";
            case ENOSYS -> notImplemented(command);
            case E2BIG ->
                command instanceof MapCommand.Create create
                        ? "max_entries (" + Integer.toUnsignedString(create.maxEntries()) + ") or the value size ("
                                + create.valueSize() + " bytes) may exceed the kernel's limit"
                        : null;
            case ENOMEM -> "out of memory, or the cgroup of this process has reached its memory limit";
            case ENOENT -> notFound(command);
            case EAGAIN, EINTR ->
                command instanceof ProgCommand.Load
                        ? "a signal interrupted the verifier in each attempt; try again"
                        : null;
            case ENOTSUPP, EINVAL, ENOSPC -> command instanceof ProgCommand.TestRun run ? testRun(errno, run) : null;
            default -> null;
        };
    }

    private static String value(long limit) {
        return limit < 0 ? "" : " (" + limit + ")";
    }

    private static @Nullable String refused(Command<?> command, Errno errno, ProcessRights rights) {
        return switch (command) {
            case PerfCommand<?> perf -> perf(perf, rights);
            case FileCommand<?> file -> file(file, errno, rights);
            case PeerCommand<?> _ -> null;
            case ProcessCommand<?> _ ->
                "another process traces it (strace, gdb), or a kernel policy refuses the call (Yama, LSM or seccomp)";
            case ObjectCommand.Get get when errno == Errno.EACCES -> mayNotOpen(get);
            case ObjectCommand.Pin _, ObjectCommand.Get _ ->
                errno == Errno.EACCES
                        ? "this user may not search the directory, or not write to it"
                        : "the path must be in a BPF file system: mount -t bpf bpf /sys/fs/bpf";
            case TokenCommand<?> _
            when !rights.inFirstUserNamespace() ->
                "the token does not delegate this operation (mount options delegate_cmds, delegate_maps,"
                        + " delegate_progs and delegate_attachs), or this process lacks "
                        + ProcessRights.names(NeededRights.of(command)) + " in its own user namespace";
            case LinkCommand.Update update
            when update.expected() != null ->
                Objects.requireNonNullElse(
                        missingRights(command, rights), "the link does not have the expected program");
            default -> bpf(command, errno, rights);
        };
    }

    private static String mayNotOpen(ObjectCommand.Get pin) {
        String access = pin.flags() == 0
                ? "reading and writing; a map or program can be opened read-only"
                : "the requested access";
        return "this user may not search the directory, or may not open the pin for " + access;
    }

    private static @Nullable String bpf(Command<?> command, Errno errno, ProcessRights rights) {
        List<Capability> needed = NeededRights.of(command);
        List<Capability> lacking = rights.lacking(needed);
        if (lacking.isEmpty() && rights.inFirstUserNamespace()) {
            return errno == Errno.EPERM
                    ? rights.whyRefused(needed) + "; before Linux 5.11, RLIMIT_MEMLOCK may be too small"
                    : null;
        }
        boolean mayNeedPerfmon = lacking.contains(Capability.CAP_BPF) && !rights.has(Capability.CAP_PERFMON);
        return rights.whyRefused(needed)
                + (mayNeedPerfmon && !needed.contains(Capability.CAP_PERFMON)
                        ? "; tracing programs also require CAP_PERFMON"
                        : "")
                + (lacking.contains(Capability.CAP_BPF)
                        ? sysctl("kernel.unprivileged_bpf_disabled", rights.unprivilegedBpfDisabled(), -1)
                        : "");
    }

    /**
     * CAP_PERFMON, except for uprobes: kernels 5.8 to 6.15 accept it for uprobes, too, and others require CAP_SYS_ADMIN
     * (commit ba677dbe77af "perf: Revert to requiring CAP_SYS_ADMIN for uprobes", Linux 6.16 and updates of older
     * ones). A uprobe multi link does not call perf_uprobe_event_init(), which has that check.
     */
    private static String perf(PerfCommand<?> command, ProcessRights rights) {
        if (command instanceof PerfCommand.Open open && isUprobe(open)) {
            return rights.whyRefused(List.of(Capability.CAP_SYS_ADMIN))
                    + (rights.has(Capability.CAP_SYS_ADMIN) || !rights.inFirstUserNamespace()
                            ? ""
                            : "; CAP_PERFMON is enough for a uprobe_multi link (Linux 6.6), and for single uprobes on"
                                    + " kernels 5.8 to 6.15 without the fix ba677dbe77af");
        }
        List<Capability> needed = List.of(Capability.CAP_PERFMON);
        return rights.whyRefused(needed)
                + (rights.lacking(needed).isEmpty()
                        ? ""
                        : sysctl("kernel.perf_event_paranoid", rights.perfEventParanoid(), -2));
    }

    /** A uprobe's text is the absolute path of a file, a kprobe's the name of a function. */
    private static boolean isUprobe(PerfCommand.Open open) {
        return open.text() != null && open.text().startsWith("/");
    }

    private static @Nullable String file(FileCommand<?> command, Errno errno, ProcessRights rights) {
        return switch (command) {
            case FileCommand.DetachedMount _ -> rights.whyRefused(List.of(Capability.CAP_SYS_ADMIN));
            case FileCommand.TakeDescriptor _ -> rights.whyRefused(List.of(Capability.CAP_SYS_PTRACE));
            case FileCommand.Open _
            when errno == Errno.EACCES ->
                rights.has(Capability.CAP_DAC_OVERRIDE)
                        ? rights.whyRefused(List.of(Capability.CAP_DAC_OVERRIDE))
                        : "this user may not open the file";
            default -> null;
        };
    }

    private static String sysctl(String name, int value, int unknown) {
        return value == unknown ? "" : " (sysctl " + name + " is " + value + ")";
    }

    private static @Nullable String notImplemented(Command<?> command) {
        return switch (command) {
            case PerfCommand<?> _ -> "this kernel is built without CONFIG_PERF_EVENTS";
            case FileCommand<?> _, PeerCommand<?> _, ProcessCommand<?> _ -> null;
            case MapCommand<?> _, ProgCommand<?> _, ObjectCommand<?> _, LinkCommand<?> _, TokenCommand<?> _ ->
                "this kernel is built without CONFIG_BPF_SYSCALL, or a seccomp filter hides bpf(2)";
        };
    }

    private static @Nullable String token(Errno errno) {
        return switch (errno) {
            case EINVAL -> "a BPF token needs the root directory of a BPF file system, and Linux 6.9";
            case EPERM ->
                "the BPF file system must be mounted for the user namespace of this process, and the process needs"
                        + " CAP_BPF in it";
            case EOPNOTSUPP ->
                "a BPF token can't be created in the initial user namespace; run as root or with CAP_BPF, without a"
                        + " token";
            case ENOENT ->
                "this BPF file system delegates nothing: mount it with delegate_cmds, delegate_maps and so on";
            default -> null;
        };
    }

    private static String testRun(Errno errno, ProgCommand.TestRun run) {
        return switch (errno) {
            case ENOTSUPP -> "this kernel can't run programs of this type without attaching them";
            case ENOSPC ->
                "the output of the program does not fit in the buffers: " + run.dataOut() + " bytes for data, "
                        + run.contextOut() + " bytes for the context";
            default ->
                "programs of this type need other input: packets have at least 14 bytes; raw tracepoint and"
                        + " syscall programs take a context and no data, and can't be repeated";
        };
    }

    private static @Nullable String notFound(Command<?> command) {
        return switch (command) {
            case LinkCommand.OpenRawTracepoint open
            when !open.tracepoint().isEmpty() -> "this kernel has no tracepoint \"" + open.tracepoint() + "\"";
            case LinkCommand.Create create
            when create.details() instanceof LinkCommand.Details.UprobeMulti uprobes ->
                "there is no file " + uprobes.path();
            default -> null;
        };
    }
}
