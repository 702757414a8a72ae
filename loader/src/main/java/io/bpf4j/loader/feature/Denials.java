package io.bpf4j.loader.feature;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.FailureHints;
import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.kernel.Errno;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Distinguishes a kernel that lacks a feature from a kernel that does not let this process probe. <i>Thread-safe.</i>
 *
 * <p>Most error numbers mean one or the other. Two errors of loading a program may mean both:
 * <ul>
 *   <li>The verifier returns EACCES for an invalid read, as a program may appear to a kernel that lacks a feature.
 *       SELinux returns EACCES to a process that may not load programs.
 *   <li>The verifier returns EINVAL for an unknown helper. If processes without CAP_BPF may load socket filters
 *       (kernel.unprivileged_bpf_disabled=0), it also returns EINVAL to them for a loop that it allows with CAP_BPF.
 * </ul>
 * So after such a refusal, the probe loads a program of the same type without the feature, but with a call between
 * functions, which needs the same rights. If the kernel refuses that program too, missing rights may be the reason for
 * both.
 */
final class Denials {
    private final Host host;

    Denials(Host host) {
        this.host = host;
    }

    /** Whether the error is not an answer: missing rights, a missing system call, or missing resources. */
    static boolean isDenial(Errno errno) {
        return switch (errno) {
            case EPERM, EACCES, ENOSYS, EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR -> true;
            default -> false;
        };
    }

    /** The result of refused BTF. The kernel never returns EACCES for the contents of BTF. */
    Support of(ProgCommand.LoadBtf load, int errnoNumber, String what) {
        return isDenial(Errno.of(errnoNumber))
                ? Support.unknown(FailureHints.explained(load, errnoNumber, host.rights()))
                : Support.no(what + ": " + Errno.describe(errnoNumber));
    }

    /** The result of a refused program. */
    Support of(ProgCommand.Load load, int errnoNumber, String what) {
        Errno errno = Errno.of(errnoNumber);
        if (errno != Errno.EACCES && isDenial(errno)) {
            return Support.unknown(FailureHints.explained(load.withName("probe"), errnoNumber, host.rights()));
        }
        ProgCommand.Load plain = ProgCommand.Load.of(load.type(), "", ProbePrograms.callingFunction(), load.license())
                .withKernelVersion(load.kernelVersion());
        switch (host.kernel().execute(plain)) {
            case LoadResult.Loaded loaded -> loaded.fd().close();
            case LoadResult.Refused refused -> {
                if (isDenial(Errno.of(refused.errno()))) {
                    return Support.unknown(
                            FailureHints.explained(plain.withName("probe"), refused.errno(), host.rights()));
                }
            }
        }
        return Support.no(what + ": " + Errno.describe(errnoNumber));
    }

    /** The result if a file with the answer can't be read. */
    static Support file(Path file, Errno errno, String remedy) {
        return new Support.Unknown("read " + file, errno.number(), Optional.of(remedy));
    }
}
