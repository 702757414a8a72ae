package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.LinuxVersion;
import io.bpf4j.loader.internal.sys.FailureHints;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Hands assembled programs to the verifier. The first try asks for no log, which makes it faster; a refused program is
 * tried again with one, in a buffer that grows until the whole log fits. <i>Thread-safe.</i>
 */
public final class ProgramLoading {
    private static final int FIRST_LOG = 256 << 10;
    /** What kernels before 5.2 allow; longer logs are cut there (kernel commit 7a9f5c65abcc). */
    private static final int LARGEST_LOG = (16 << 20) - 1;

    /** The slot of a call that the verifier is about to refuse. */
    private static final Pattern UNKNOWN_CALL =
            Pattern.compile("^(\\d{1,7}): \\(85\\) call unknown#", Pattern.MULTILINE);

    private final Kernel kernel;
    private final Features features;
    private final ObjectSpec spec;
    private final @Nullable Fd btf;
    private final LoadOptions options;

    ProgramLoading(Kernel kernel, Features features, ObjectSpec spec, @Nullable Fd btf, LoadOptions options) {
        this.kernel = kernel;
        this.features = features;
        this.spec = spec;
        this.btf = btf;
        this.options = options;
    }

    /** Loads a program for an attach type; the descriptor is the caller's. */
    Loaded load(AssembledProgram program, Optional<AttachType> attachType, AttachPoint point) {
        ProgCommand.Load command = command(program, attachType, point);
        int logLevel = program.spec().verifierLog().orElse(options.logLevel());
        if (logLevel > 0) {
            ProgCommand.Load logged = command.withLog(new ProgCommand.Log(logLevel, LARGEST_LOG));
            switch (kernel.execute(logged)) {
                case LoadResult.Loaded loaded -> {
                    return new Loaded(loaded.fd(), loaded.log());
                }
                case LoadResult.Refused refused -> {
                    if (refused.errno() != Errno.ENOSPC.number()) {
                        throw refusal(program, attachType, command, refused);
                    }
                    // The log was too long for the buffer, which says nothing about the program.
                    return withLog(load(program, attachType, command), refused.log());
                }
            }
        }
        return load(program, attachType, command);
    }

    private Loaded load(AssembledProgram program, Optional<AttachType> attachType, ProgCommand.Load command) {
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> new Loaded(loaded.fd(), loaded.log());
            case LoadResult.Refused refused -> throw refusal(program, attachType, command, refused);
        };
    }

    private static Loaded withLog(Loaded loaded, String log) {
        return new Loaded(loaded.fd(), log);
    }

    /** A program in the kernel and the log of its verification, empty unless asked for. */
    record Loaded(Fd fd, String log) {}

    private int kernelVersion() {
        return options.kernelVersion()
                .map(KernelVersion::code)
                .orElseGet(() -> spec.version() != 0
                        ? spec.version()
                        : LinuxVersion.running().code());
    }

    private ProgCommand.Load command(AssembledProgram program, Optional<AttachType> attachType, AttachPoint point) {
        ProgramSpec of = program.spec();
        List<Instruction> fitted = OldKernelHelpers.fitted(program.instructions(), features);
        List<Instruction> code = options.instructions()
                .getOrDefault(of.name(), UnaryOperator.identity())
                .apply(fitted);
        ProgCommand.Load command = ProgCommand.Load.of(
                        of.type().number(),
                        features.lacks(Feature.OBJECT_NAMES) ? "" : KernelNames.of(of.name()),
                        Instructions.encode(code, spec.order()),
                        spec.license())
                .withFlags(of.flags())
                .withIfindex(of.ifindex())
                .withAttachTarget(point.btfId(), point.program())
                .withKernelVersion(kernelVersion())
                .withMentioned(program.mentioned())
                .withFdArray(program.modules());
        if (!features.lacks(Feature.EXPECTED_ATTACH_TYPE)) {
            command = command.withExpectedAttachType(point.member()
                    .orElseGet(() -> attachType.map(AttachType::number).orElse(0)));
        }
        if (btf == null) {
            return command;
        }
        return code.size() == fitted.size()
                ? command.withBtf(btf, program.functions(), program.lines())
                : command.withBtf(btf, ProgCommand.InfoTable.NONE, ProgCommand.InfoTable.NONE);
    }

    private BpfException refusal(
            AssembledProgram program,
            Optional<AttachType> attachType,
            ProgCommand.Load command,
            LoadResult.Refused first) {
        LoadResult.Refused refused = first;
        if (refused.log().isEmpty()) {
            for (int size = FIRST_LOG; ; size = Math.min(size * 8, LARGEST_LOG)) {
                LoadResult again = kernel.execute(command.withLog(new ProgCommand.Log(1, size)));
                if (again instanceof LoadResult.Loaded loaded) {
                    // Refused, then taken: the first refusal had a passing reason. Nothing of the second try is kept,
                    // so that what the caller sees is one story.
                    loaded.fd().close();
                    break;
                }
                LoadResult.Refused more = (LoadResult.Refused) again;
                if (!more.log().isEmpty() || more.errno() != Errno.ENOSPC.number()) {
                    refused = new LoadResult.Refused(
                            more.errno() == Errno.ENOSPC.number() ? first.errno() : more.errno(),
                            more.log(),
                            more.logSize());
                }
                if (more.errno() != Errno.ENOSPC.number() || size == LARGEST_LOG) {
                    break;
                }
            }
        }
        if (refused.log().isEmpty() && refused.errno() == Errno.EPERM.number()) {
            // The command has the name cut to the kernel's 15 characters.
            ProgCommand.Load named =
                    ProgCommand.Load.of(command.type(), program.spec().name(), new byte[0], spec.license());
            return FailureHints.explained(named, refused.errno());
        }
        Optional<UnsupportedFeatureException> missing = refused.log().isBlank()
                ? MissingFeature.of(program.spec(), attachType, refused.errno(), features)
                : Optional.empty();
        if (missing.isPresent()) {
            return missing.get();
        }
        return new VerifierException(program.spec().name(), refused.errno(), refused.log(), advice(program, refused));
    }

    /**
     * The verifier names what it came across as an unknown helper; what that stands for is known here.
     *
     * <pre>
     * 8: (85) call unknown#195896080
     * invalid func unknown#195896080
     * </pre>
     */
    private static String advice(AssembledProgram program, LoadResult.Refused refused) {
        List<AssembledProgram.Poisoned> poisoned = program.poisoned();
        if (poisoned.isEmpty() || !refused.log().contains("invalid func unknown#")) {
            return "";
        }
        OptionalInt slot = lastCall(refused.log());
        List<AssembledProgram.Poisoned> met = poisoned.stream()
                .filter(p -> slot.isEmpty() || p.slot() == slot.getAsInt())
                .limit(3)
                .toList();
        if (met.isEmpty()) {
            return "";
        }
        boolean leftOut = met.stream().allMatch(p -> p.kind() == AssembledProgram.Poisoned.Kind.MAP);
        return (leftOut ? "it comes to " : "it reaches what this kernel does not have: ")
                + met.stream().map(AssembledProgram.Poisoned::reason).collect(Collectors.joining("; "));
    }

    private static OptionalInt lastCall(String log) {
        Matcher call = UNKNOWN_CALL.matcher(log);
        OptionalInt last = OptionalInt.empty();
        while (call.find()) {
            last = OptionalInt.of(Integer.parseInt(call.group(1)));
        }
        return last;
    }
}
