package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The usual reason for an error, and a remedy: appended to the error number in a message. */
public final class FailureHints {
    private static final Set<Errno> REFUSED = EnumSet.of(Errno.EPERM, Errno.EACCES);

    /** ENOMEM. */
    public static final String OUT_OF_MEMORY =
            "out of memory, or the cgroup of this process has reached its memory limit";

    private static final String NO_BPF_FS = "the path must be in a BPF file system: mount -t bpf bpf /sys/fs/bpf";

    /** No reason is known; later rows do not apply. */
    private static final Reason<Object> NOTHING = (_, _, _) -> null;

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

    /** The failure with a better hint, from code that knows more about it than the command; null keeps the old hint. */
    public static SyscallException withHint(SyscallException e, @Nullable String hint) {
        return hint == null ? e : new SyscallException(e.call(), e.errnoNumber(), hint);
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
        for (Row<?> row : ROWS) {
            if (row.call().isInstance(command) && row.errnos().contains(errno)) {
                return row.hint(command, errno, rights);
            }
        }
        return null;
    }

    /** Why a call fails with an error; null if no reason is known. */
    private interface Reason<C> {
        @Nullable
        String of(C command, Errno errno, Supplier<ProcessRights> rights);
    }

    /** What errors of a call usually mean. */
    private record Row<C>(Class<C> call, Set<Errno> errnos, Reason<? super C> reason) {
        @Nullable
        String hint(Command<?> command, Errno errno, Supplier<ProcessRights> rights) {
            return reason.of(call.cast(command), errno, rights);
        }
    }

    private static <C> Row<C> row(Class<C> call, Set<Errno> errnos, Reason<? super C> reason) {
        return new Row<>(call, errnos, reason);
    }

    private static <C> Row<C> row(Class<C> call, Set<Errno> errnos, String reason) {
        return row(call, errnos, (_, _, _) -> reason);
    }

    /**
     * All reasons that follow from the call alone. The first row for a call and an error counts. Reasons that depend on
     * the kind of a link, on a map's type or on the verifier's log are in the loader, with these.
     */
    private static final List<Row<?>> ROWS = List.of(
            row(
                    TokenCommand.Create.class,
                    EnumSet.of(Errno.EINVAL),
                    "a BPF token needs the root directory of a BPF file system, and Linux 6.9"),
            row(
                    TokenCommand.Create.class,
                    EnumSet.of(Errno.EPERM),
                    "the BPF file system must be mounted for the user namespace of this process, and the process needs"
                            + " CAP_BPF in it"),
            row(
                    TokenCommand.Create.class,
                    EnumSet.of(Errno.EOPNOTSUPP),
                    "a BPF token can't be created in the initial user namespace; run as root or with CAP_BPF, without a"
                            + " token"),
            row(
                    TokenCommand.Create.class,
                    EnumSet.of(Errno.ENOENT),
                    "this BPF file system delegates nothing: mount it with delegate_cmds, delegate_maps and so on"),
            row(
                    LinkCommand.Update.class,
                    EnumSet.of(Errno.EEXIST),
                    "another link attaches the program to the same place"),
            row(
                    LinkCommand.Update.class,
                    EnumSet.of(Errno.EINVAL, Errno.EOPNOTSUPP),
                    "the kernel can't update links of this kind, or not with a program of this type"),
            row(
                    LinkCommand.Update.class,
                    EnumSet.of(Errno.ENOLINK, Errno.ENODEV),
                    "the link is detached, or its target no longer exists"),
            row(LinkCommand.Update.class, REFUSED, FailureHints::update),
            row(
                    LinkCommand.Detach.class,
                    EnumSet.of(Errno.EINVAL, Errno.EOPNOTSUPP),
                    "links of this kind are detached only by closing them"),
            row(LinkCommand.TaskFdQuery.class, EnumSet.of(Errno.EBADF), "the process has no such descriptor"),
            row(
                    LinkCommand.TaskFdQuery.class,
                    EnumSet.of(Errno.ENOENT),
                    "there is no such process, or the perf event has no program"),
            row(
                    LinkCommand.TaskFdQuery.class,
                    EnumSet.of(Errno.ENOTSUPP, Errno.EOPNOTSUPP),
                    "the descriptor is not a tracepoint, kprobe or uprobe; Links.byId tells what a link is"),
            row(
                    LinkCommand.OpenRawTracepoint.class,
                    EnumSet.of(Errno.ENOENT),
                    (open, _, _) -> open.tracepoint().isEmpty()
                            ? null
                            : "this kernel has no tracepoint \"" + open.tracepoint() + "\""),
            row(
                    LinkCommand.Create.class,
                    EnumSet.of(Errno.ENOENT),
                    (create, _, _) -> create.details() instanceof LinkCommand.Details.UprobeMulti uprobes
                            ? "there is no file " + uprobes.path()
                            : null),
            row(
                    MapCommand.Create.class,
                    EnumSet.of(Errno.E2BIG),
                    (create, _, _) -> "max_entries (" + Integer.toUnsignedString(create.maxEntries())
                            + ") or the value size (" + create.valueSize() + " bytes) may exceed the kernel's limit"),
            row(
                    ProgCommand.Load.class,
                    EnumSet.of(Errno.EAGAIN, Errno.EINTR),
                    "a signal interrupted the verifier in each attempt; try again"),
            row(
                    ProgCommand.TestRun.class,
                    EnumSet.of(Errno.ENOTSUPP),
                    "this kernel can't run programs of this type without attaching them"),
            row(
                    ProgCommand.TestRun.class,
                    EnumSet.of(Errno.ENOSPC),
                    (run, _, _) -> "the output of the program does not fit in the buffers: " + run.dataOut()
                            + " bytes for data, " + run.contextOut() + " bytes for the context"),
            row(
                    ProgCommand.TestRun.class,
                    EnumSet.of(Errno.EINVAL),
                    "programs of this type need other input: packets have at least 14 bytes; raw tracepoint and"
                            + " syscall programs take a context and no data, and can't be repeated"),
            row(ObjectCommand.Get.class, EnumSet.of(Errno.EACCES), (get, _, _) -> mayNotOpen(get)),
            row(
                    ObjectCommand.Pin.class,
                    EnumSet.of(Errno.EACCES),
                    "this user may not search the directory, or not write to it"),
            row(ObjectCommand.Get.class, EnumSet.of(Errno.EPERM), NO_BPF_FS),
            row(ObjectCommand.Pin.class, EnumSet.of(Errno.EPERM), NO_BPF_FS),
            row(PerfCommand.class, REFUSED, (perf, _, rights) -> perf(perf, rights.get())),
            row(
                    FileCommand.DetachedMount.class,
                    REFUSED,
                    (_, _, rights) -> rights.get().whyRefused(List.of(Capability.CAP_SYS_ADMIN))),
            row(
                    FileCommand.TakeDescriptor.class,
                    REFUSED,
                    (_, _, rights) -> rights.get().whyRefused(List.of(Capability.CAP_SYS_PTRACE))),
            row(FileCommand.Open.class, EnumSet.of(Errno.EACCES), (_, _, rights) -> mayNotOpen(rights.get())),
            row(
                    NetlinkCommand.class,
                    REFUSED,
                    (_, _, rights) -> rights.get().whyRefused(List.of(Capability.CAP_NET_ADMIN))),
            row(SocketCommand.class, EnumSet.of(Errno.EPERM), "the filter of the socket is locked (SO_LOCK_FILTER)"),
            row(FileCommand.class, REFUSED, NOTHING),
            row(PeerCommand.class, REFUSED, NOTHING),
            row(
                    ProcessCommand.class,
                    REFUSED,
                    "another process traces it (strace, gdb), or a kernel policy refuses the call (Yama, LSM or"
                            + " seccomp)"),
            row(TokenCommand.class, REFUSED, FailureHints::delegated),
            row(Command.class, REFUSED, (command, errno, rights) -> bpf(command, errno, rights.get())),
            row(Command.class, EnumSet.of(Errno.EMFILE), (command, _, rights) -> tooManyFiles(command, rights.get())),
            row(
                    Command.class,
                    EnumSet.of(Errno.ENFILE),
                    "the machine has reached its limit of open files, sysctl fs.file-max"),
            row(Command.class, EnumSet.of(Errno.ENOMEM), OUT_OF_MEMORY),
            row(
                    PerfCommand.class,
                    EnumSet.of(Errno.EINTR), // perf_event_open(2)
                    "ftrace has a uprobe at the same place, which perf can't share; see uprobe_events in tracefs"),
            row(Command.class, EnumSet.of(Errno.EINTR), "a signal interrupted it; try again"),
            row(PerfCommand.class, EnumSet.of(Errno.ENOSYS), "this kernel is built without CONFIG_PERF_EVENTS"),
            row(FileCommand.class, EnumSet.of(Errno.ENOSYS), NOTHING),
            row(PeerCommand.class, EnumSet.of(Errno.ENOSYS), NOTHING),
            row(ProcessCommand.class, EnumSet.of(Errno.ENOSYS), NOTHING),
            row(
                    Command.class,
                    EnumSet.of(Errno.ENOSYS),
                    "this kernel is built without CONFIG_BPF_SYSCALL, or a seccomp filter hides bpf(2)"));

    private static String tooManyFiles(Command<?> command, ProcessRights rights) {
        return "this process has reached its limit of open files, RLIMIT_NOFILE" + value(rights.openFiles())
                + "; raise it with ulimit -n"
                + (command instanceof PerfCommand<?>
                        ? ", or attach fewer single probes: a uprobe_multi link needs one file descriptor for all its"
                                + " probes"
                        : "");
    }

    private static String value(long limit) {
        return limit < 0 ? "" : " (" + limit + ")";
    }

    private static @Nullable String update(LinkCommand.Update update, Errno errno, Supplier<ProcessRights> rights) {
        return update.expected() == null
                ? bpf(update, errno, rights.get())
                : Objects.requireNonNullElse(
                        missingRights(update, rights.get()), "the link does not have the expected program");
    }

    private static @Nullable String delegated(TokenCommand<?> command, Errno errno, Supplier<ProcessRights> rights) {
        return rights.get().inFirstUserNamespace()
                ? bpf(command, errno, rights.get())
                : "the token does not delegate this operation (mount options delegate_cmds, delegate_maps,"
                        + " delegate_progs and delegate_attachs), or this process lacks "
                        + ProcessRights.names(NeededRights.of(command)) + " in its own user namespace";
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

    private static String mayNotOpen(ProcessRights rights) {
        return rights.has(Capability.CAP_DAC_OVERRIDE)
                ? rights.whyRefused(List.of(Capability.CAP_DAC_OVERRIDE))
                : "this user may not open the file";
    }

    private static String sysctl(String name, int value, int unknown) {
        return value == unknown ? "" : " (sysctl " + name + " is " + value + ")";
    }
}
