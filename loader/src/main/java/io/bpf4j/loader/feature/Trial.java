package io.bpf4j.loader.feature;

import static io.bpf4j.insn.Assembler.R0;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Command;
import io.bpf4j.loader.internal.sys.FailureHints;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.kernel.Errno;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Tries commands, and distinguishes a kernel that lacks something from a kernel that does not let this process try.
 * <i>Thread-safe.</i>
 *
 * <p>Most error numbers mean one or the other. Two errors of loading a program may mean both:
 * <ul>
 *   <li>The verifier returns EACCES for an invalid read, as a program may appear to a kernel that lacks a feature.
 *       SELinux returns EACCES to a process that may not load programs.
 *   <li>The verifier returns EINVAL for an unknown helper. If processes without CAP_BPF may load socket filters
 *       (kernel.unprivileged_bpf_disabled=0), it also returns EINVAL to them for a loop that it allows with CAP_BPF.
 * </ul>
 * So after such a refusal, a program of the same type without the feature is loaded, but with a call between functions,
 * which needs the same rights. If the kernel refuses that program too, missing rights may be the reason for both.
 *
 * <p>Tested by {@code FeaturesTest}.
 */
record Trial(Host host) {
    /** Enough for what the verifier says about a program of a few instructions. */
    private static final ProgCommand.Log LOG = new ProgCommand.Log(1, 1 << 14);

    private static final List<Errno> SUCCESS = List.of(Errno.OK);

    /** A command that only a kernel with the facility answers in one of these ways; without any, by success. */
    Support of(Command<?> command, Errno... answers) {
        List<Errno> expected = answers.length == 0 ? SUCCESS : Arrays.asList(answers);
        return judged(command, (errno, _) -> expected.contains(errno), expected);
    }

    /** A program of a type that only a kernel with the type passes to the verifier, whatever that says. */
    Support reachesVerifier(ProgCommand.Load load) {
        return judged(load.withLog(LOG), (errno, log) -> errno == Errno.OK || !log.isEmpty(), SUCCESS);
    }

    /**
     * A program with a call: of a helper that the program may not call, the verifier says EINVAL. Of others, it next
     * finds that their arguments are missing: EACCES.
     */
    Support passesCall(ProgCommand.Load load) {
        return judged(
                load.withLog(LOG),
                (errno, log) -> errno == Errno.OK || (errno == Errno.EACCES && !log.isEmpty()),
                SUCCESS);
    }

    /** Makes something for a further probe, and closes it; if it can't be made, that is the result. */
    Support with(Command<?> making, Function<Fd, Support> test) {
        try {
            return switch (host.kernel().execute(making)) {
                case LoadResult.Refused refused -> refused(making, refused.errno(), SUCCESS);
                case LoadResult.Loaded(Fd fd, String _) -> closing(fd, test);
                case Object fd -> closing((Fd) fd, test);
            };
        } catch (SyscallException e) {
            return refused(making, e.errnoNumber(), SUCCESS);
        }
    }

    private static Support closing(Fd own, Function<Fd, Support> test) {
        try (own) {
            return test.apply(own);
        }
    }

    private Support judged(Command<?> command, BiPredicate<Errno, String> present, List<Errno> expected) {
        int errno = 0;
        String log = "";
        try {
            switch (host.kernel().execute(command)) {
                case LoadResult.Loaded loaded -> loaded.fd().close();
                case LoadResult.Refused refused -> {
                    errno = refused.errno();
                    log = refused.log();
                }
                case MapCommand.BatchResult batch -> errno = batch.errno();
                case Integer number -> errno = number;
                case Fd fd -> fd.close();
                default -> throw new IllegalArgumentException(command.call());
            }
        } catch (SyscallException e) {
            errno = e.errnoNumber();
        }
        return present.test(Errno.of(errno), log)
                ? new Support.Present(
                        answer(command, errno) + (errno == 0 || log.isEmpty() ? "" : " from the verifier"))
                : refused(command, errno, expected);
    }

    private Support refused(Command<?> command, int errnoNumber, List<Errno> expected) {
        Errno errno = Errno.of(errnoNumber);
        if (command instanceof ProgCommand.Load load && (errno == Errno.EACCES || !isDenial(errno))) {
            ProgCommand.Load plain = ProgCommand.Load.of(
                            load.type(), "", encode(callingFunction().mov(R0, 0).exit()), load.license())
                    .withKernelVersion(load.kernelVersion());
            switch (host.kernel().execute(plain)) {
                case LoadResult.Loaded loaded -> loaded.fd().close();
                case LoadResult.Refused refused -> {
                    if (isDenial(Errno.of(refused.errno()))) {
                        return unknown(plain, refused.errno());
                    }
                }
            }
        } else if (isDenial(errno)) {
            return unknown(command, errnoNumber);
        }
        return new Support.Absent(answer(command, errnoNumber)
                + (expected.equals(SUCCESS)
                        ? ""
                        : expected.stream().map(Errno::name).collect(Collectors.joining(" or ", ", not ", ""))));
    }

    private Support unknown(Command<?> command, int errno) {
        Command<?> named = command instanceof ProgCommand.Load load ? load.withName("probe") : command;
        SyscallException refused = FailureHints.explained(named, errno, host.rights());
        return new Support.Unknown(refused.call(), refused.errnoNumber(), refused.hint());
    }

    /** A function that calls another. The caller adds the instructions of the other. */
    static Assembler callingFunction() {
        return Assembler.create().callLabel("function").exit().label("function");
    }

    /** The program for this machine. */
    static byte[] encode(Assembler program) {
        return Instructions.encode(program.assemble(), ByteOrder.nativeOrder());
    }

    /** Whether the error is not an answer: missing rights, a missing system call, or missing resources. */
    private static boolean isDenial(Errno errno) {
        return switch (errno) {
            case EPERM, EACCES, ENOSYS, EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR -> true;
            default -> false;
        };
    }

    /** Such as {@code bpf(BPF_LINK_CREATE) gave EBADF}. */
    private static String answer(Command<?> command, int errno) {
        String call = command.call();
        return call.substring(0, call.indexOf(')') + 1)
                + switch (Errno.of(errno)) {
                    case OK -> " succeeded";
                    case UNKNOWN -> " gave errno " + errno;
                    case Errno known -> " gave " + known;
                };
    }
}
