package io.bpf4j.loader.feature;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.FailureHints;
import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.kernel.Errno;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Tells a kernel that lacks a feature from one that does not let this process ask. <i>Thread-safe.</i>
 *
 * <p>Most error numbers are of one side or the other. Two of a program's are of both:
 * <ul>
 *   <li>EACCES is what the verifier says to a program that reads what it may not, as a kernel that lacks a feature sees
 *       it; and it is what SELinux says to a process that may load none.
 *   <li>EINVAL is what the verifier says to an unknown helper; and, to a process without CAP_BPF where those may load
 *       socket filters (kernel.unprivileged_bpf_disabled=0), to a loop that it would allow others.
 * </ul>
 * So after such a refusal a program without the feature is tried, of the same kind and with a call between functions,
 * which takes the same rights: if that is refused for want of them, so was the first, perhaps.
 */
final class Denials {
    private final Host host;

    Denials(Host host) {
        this.host = host;
    }

    /** Whether this is no answer: no right to ask, no system call to ask with, or no room for what it takes. */
    static boolean isDenial(Errno errno) {
        return switch (errno) {
            case EPERM, EACCES, ENOSYS, EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR -> true;
            default -> false;
        };
    }

    /** What a refusal of BTF says. No BTF is refused with EACCES for what is in it. */
    Support of(ProgCommand.LoadBtf load, int errnoNumber, String what) {
        return isDenial(Errno.of(errnoNumber))
                ? Support.unknown(FailureHints.explained(load, errnoNumber, host.rights()))
                : Support.no(what + ": " + Errno.describe(errnoNumber));
    }

    /** What a refusal of a program says. */
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

    /** A file that would have told. */
    static Support file(Path file, Errno errno, String remedy) {
        return new Support.Unknown("read " + file, errno.number(), Optional.of(remedy));
    }
}
