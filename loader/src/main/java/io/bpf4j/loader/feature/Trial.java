package io.bpf4j.loader.feature;

import static io.bpf4j.insn.Assembler.R0;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.Errno;
import java.nio.ByteOrder;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * Tries commands, and distinguishes a kernel that lacks a feature from a kernel that does not permit this process to
 * try it. <i>Thread-safe.</i>
 *
 * <p>Most error numbers mean one or the other. Two errors of loading a program may mean either:
 * <ul>
 *   <li>The verifier returns EACCES for an invalid read. A kernel that lacks a feature may see an invalid read in a
 *       program that uses it. SELinux returns EACCES to a process that may not load programs.
 *   <li>The verifier returns EINVAL for an unknown helper. If processes without CAP_BPF may load socket filters
 *       (kernel.unprivileged_bpf_disabled=0), it also returns EINVAL to them for a helper that it allows with CAP_BPF.
 * </ul>
 * So after such a refusal, a program of the same type without the feature is loaded, but with a call between functions,
 * which needs the same rights. If the kernel refuses that program too, missing rights may be the reason for both.
 *
 * <p>Tested by {@code FeaturesTest}.
 */
record Trial(Host host) {
    /** Enough for the verifier's log of a program of a few instructions. */
    private static final ProgCommand.Log LOG = new ProgCommand.Log(1, 1 << 14);

    /** A command that only a kernel with the feature accepts. */
    Support of(Command<?> command) {
        return of(command, Errno.OK);
    }

    /** A command that only a kernel with the feature answers with this error. */
    Support of(Command<?> command, Errno expected) {
        return evaluate(command, (errno, _) -> errno == expected, expected);
    }

    /** A program that only a kernel with its type passes to the verifier, whether or not the verifier accepts it. */
    Support reachesVerifier(ProgCommand.Load load) {
        return evaluate(load.withLog(LOG), (errno, log) -> errno == Errno.OK || !log.isEmpty(), Errno.OK);
    }

    /**
     * A program that calls a helper. If the program may not call the helper, the verifier returns EINVAL. Else it next
     * detects that the arguments are missing, and returns EACCES.
     */
    Support passesCall(ProgCommand.Load load) {
        return evaluate(
                load.withLog(LOG),
                (errno, log) -> errno == Errno.OK || (errno == Errno.EACCES && !log.isEmpty()),
                Errno.OK);
    }

    /** Creates an object for a further probe, and closes it afterwards; if it can't be created, that is the result. */
    Support with(Command<?> creation, Function<Fd, Support> test) {
        Object created;
        try {
            created = Kernel.of(host).execute(creation);
        } catch (SyscallException e) {
            return refused(creation, e.errnoNumber(), Errno.OK);
        }
        // Not above: a failure to close says nothing about the feature.
        return switch (created) {
            case LoadResult.Refused refused -> refused(creation, refused.errno(), Errno.OK);
            case LoadResult.Loaded(Fd fd, String _) -> testAndClose(fd, test);
            case Object fd -> testAndClose((Fd) fd, test);
        };
    }

    private static Support testAndClose(Fd fd, Function<Fd, Support> test) {
        try (fd) {
            return test.apply(fd);
        }
    }

    private Support evaluate(Command<?> command, BiPredicate<Errno, String> present, Errno expected) {
        Object answer;
        try {
            answer = Kernel.of(host).execute(command);
        } catch (SyscallException e) {
            answer = new LoadResult.Refused(e.errnoNumber(), "", 0);
        }
        int errno = 0;
        String log = "";
        switch (answer) {
            case LoadResult.Loaded loaded -> loaded.fd().close();
            case LoadResult.Refused refused -> {
                errno = refused.errno();
                log = refused.log();
            }
            case Integer _ -> {}
            case Fd fd -> fd.close();
            default -> throw new IllegalArgumentException(command.call());
        }
        return present.test(Errno.of(errno), log)
                ? new Support.Present(
                        answer(command, errno) + (errno == 0 || log.isEmpty() ? "" : " from the verifier"))
                : refused(command, errno, expected);
    }

    private Support refused(Command<?> command, int errnoNumber, Errno expected) {
        Errno errno = Errno.of(errnoNumber);
        if (command instanceof ProgCommand.Load load && (errno == Errno.EACCES || !isDenial(errno))) {
            ProgCommand.Load plain = ProgCommand.Load.of(
                            load.type(), "", encode(callingFunction().mov(R0, 0).exit()), load.license())
                    .withKernelVersion(load.kernelVersion());
            switch (Kernel.of(host).execute(plain)) {
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
        return new Support.Absent(answer(command, errnoNumber) + (expected == Errno.OK ? "" : ", not " + expected));
    }

    private Support unknown(Command<?> command, int errno) {
        Command<?> named = command instanceof ProgCommand.Load load ? load.withName("probe") : command;
        SyscallException refused = FailureHints.explained(named, errno, ProcessRights.of(host));
        return new Support.Unknown(refused.call(), refused.errnoNumber(), refused.hint());
    }

    /** A function that calls another. The caller adds the instructions of the other. */
    static Assembler callingFunction() {
        return Assembler.create().callLabel("function").exit().label("function");
    }

    /** The program in the byte order of this machine. */
    static byte[] encode(Assembler program) {
        return Instructions.encode(program.assemble(), ByteOrder.nativeOrder());
    }

    /**
     * Whether the error says nothing about the feature: missing rights, a missing system call, or missing resources.
     */
    private static boolean isDenial(Errno errno) {
        // EBUSY: a kernel that knows the call has no time or place for it just now.
        return errno == Errno.EACCES || errno == Errno.EBUSY || FailureHints.isAboutProcess(errno);
    }

    /** Such as {@code bpf(BPF_LINK_CREATE) returned EBADF}. */
    private static String answer(Command<?> command, int errno) {
        String call = command.call();
        return call.substring(0, call.indexOf(')') + 1)
                + switch (Errno.of(errno)) {
                    case OK -> " succeeded";
                    case UNKNOWN -> " returned errno " + errno;
                    case Errno known -> " returned " + known;
                };
    }
}
