package io.bpf4j.loader.internal.sys;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Why a call usually fails with an error, and what to do: the end of the sentence that the error number starts. */
public final class FailureHints {
    private FailureHints() {}

    /** The refusal of a command as an exception, with what this process's rights and limits say about it. */
    public static SyscallException explained(Command<?> command, int errnoNumber) {
        String hint = of(command, errnoNumber, ProcessRights.read(Path.of("/proc")));
        return new SyscallException(command.call(), errnoNumber, hint);
    }

    /** What this process may not do that a command needs; null if it has all the capabilities. */
    public static @Nullable String missingRights(Command<?> command) {
        return refused(command, Errno.EACCES, ProcessRights.read(Path.of("/proc")));
    }

    /** The hint, or null where the error says it all or nothing is known. */
    static @Nullable String of(Command<?> command, int errnoNumber, ProcessRights rights) {
        Errno errno = Errno.of(errnoNumber);
        if (command instanceof TokenCommand.Create) {
            return token(errno);
        }
        return switch (errno) {
            case EPERM, EACCES -> refused(command, errno, rights);
            case EMFILE ->
                "this process has as many files open as RLIMIT_NOFILE allows"
                        + (rights.openFiles() < 0 ? "" : " (" + rights.openFiles() + ")")
                        + "; raise it with ulimit -n, or attach fewer probes one by one: a multi-uprobe link needs one"
                        + " descriptor for all";
            case ENFILE -> "the machine has as many files open as sysctl fs.file-max allows";
            case ENOSYS -> missing(command);
            case ENOMEM -> "no memory, or more than the cgroup of this process may charge";
            case ENOENT -> absent(command);
            case EAGAIN, EINTR ->
                command instanceof ProgCommand.Load
                        ? "each time the verifier was at it, a signal came; try again"
                        : null;
            case ENOTSUPP, EINVAL, ENOSPC -> command instanceof ProgCommand.TestRun run ? testRun(errno, run) : null;
            default -> null;
        };
    }

    private static @Nullable String refused(Command<?> command, Errno errno, ProcessRights rights) {
        if (command instanceof PerfCommand) {
            return perf(rights);
        }
        if (command instanceof FileCommand) {
            return null;
        }
        if (command instanceof ObjectCommand.Pin || command instanceof ObjectCommand.Get) {
            return errno == Errno.EACCES
                    ? "the directory may not be searched or written by this user"
                    : "the path must be in a BPF file system: mount -t bpf bpf /sys/fs/bpf";
        }
        boolean admin = rights.has(ProcessRights.CAP_SYS_ADMIN);
        if (!admin && command instanceof ProgCommand.EnableStats) {
            return "it needs CAP_SYS_ADMIN, which this process does not have; run as root";
        }
        Optional<NeededRights> missing = admin ? Optional.empty() : NeededRights.missing(command, rights);
        if (missing.isPresent() && missing.get() == NeededRights.CAP_BPF) {
            return "it needs CAP_BPF, and CAP_PERFMON for tracing (CAP_SYS_ADMIN before Linux 5.8), which this process"
                    + " does not have; run as root, or setcap cap_bpf,cap_perfmon+ep on the java executable"
                    + sysctl("kernel.unprivileged_bpf_disabled", rights.unprivilegedBpfDisabled(), -1);
        }
        if (missing.isPresent()) {
            return "this process has CAP_BPF; " + missing.get().purpose() + " needs " + missing.get() + " too";
        }
        return errno == Errno.EPERM
                ? "this process has the capabilities, so a policy of the kernel refuses (lockdown, LSM or seccomp), or,"
                        + " before Linux 5.11, RLIMIT_MEMLOCK is too small"
                : null;
    }

    private static String perf(ProcessRights rights) {
        if (rights.has(ProcessRights.CAP_PERFMON) || rights.has(ProcessRights.CAP_SYS_ADMIN)) {
            return "this process has the capabilities, so a policy of the kernel refuses (lockdown, LSM or seccomp)";
        }
        return "it needs CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8), which this process does not have; run as root"
                + sysctl("kernel.perf_event_paranoid", rights.perfEventParanoid(), -2);
    }

    private static String sysctl(String name, int value, int unknown) {
        return value == unknown ? "" : " (sysctl " + name + " is " + value + ")";
    }

    private static @Nullable String missing(Command<?> command) {
        return switch (command) {
            case PerfCommand<?> _ -> "this kernel is built without CONFIG_PERF_EVENTS";
            case FileCommand<?> _ -> null;
            case MapCommand<?> _, ProgCommand<?> _, ObjectCommand<?> _, LinkCommand<?> _, TokenCommand<?> _ ->
                "this kernel is built without CONFIG_BPF_SYSCALL, or a seccomp filter hides bpf(2)";
        };
    }

    private static @Nullable String token(Errno errno) {
        return switch (errno) {
            case EINVAL -> "it must be the root directory of a BPF file system, on Linux 6.9 or later";
            case EPERM ->
                "the BPF file system must be mounted for the user namespace of this process, which needs CAP_BPF there";
            case EOPNOTSUPP ->
                "tokens are for user namespaces other than the first; here, run as root or with CAP_BPF, without one";
            case ENOENT ->
                "this BPF file system delegates nothing: mount it with delegate_cmds, delegate_maps and so on";
            default -> null;
        };
    }

    private static String testRun(Errno errno, ProgCommand.TestRun run) {
        return switch (errno) {
            case ENOTSUPP -> "this kernel can't run this kind of program without attaching it";
            case ENOSPC ->
                "what the program made of it does not fit the room: " + run.dataOut() + " bytes for data, "
                        + run.contextOut() + " for the context";
            default ->
                "this kind of program takes something else; packets need 14 bytes at least, raw tracepoints and"
                        + " syscall programs take a context and no data, and are not repeated";
        };
    }

    private static @Nullable String absent(Command<?> command) {
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
