package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.Host;
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
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Hands assembled programs to the verifier. The first try asks for no log, which makes it faster; a refused program is
 * tried again with one ({@link LoggedLoad}). <i>Thread-safe.</i>
 */
public final class ProgramLoading {
    private final Host host;
    private final Kernel kernel;
    private final Features features;
    private final ObjectSpec spec;
    private final @Nullable Fd btf;
    private final ProgramRefusal refusal;
    private final LoggedLoad logs = new LoggedLoad();
    private final LoadOptions options;
    private final List<Fd> constants;

    /**
     * Of an object.
     *
     * @param btf its types, if the kernel has them
     * @param constants its maps of read-only variables
     */
    ProgramLoading(
            Host host,
            Features features,
            ObjectSpec spec,
            @Nullable Fd btf,
            ProgramRefusal refusal,
            LoadOptions options,
            List<Fd> constants) {
        this.host = host;
        this.kernel = host.kernel();
        this.features = features;
        this.spec = spec;
        this.btf = btf;
        this.refusal = refusal;
        this.options = options;
        this.constants = List.copyOf(constants);
    }

    /** Loads a program for an attach type; the descriptor is the caller's. */
    Loaded load(AssembledProgram program, Optional<AttachType> attachType, AttachPoint point) {
        try (JumpTables tables = JumpTables.make(host, features, program)) {
            return load(program, tables, attachType, point);
        }
    }

    private Loaded load(
            AssembledProgram program, JumpTables tables, Optional<AttachType> attachType, AttachPoint point) {
        ProgCommand.Load command = command(program, tables, attachType, point);
        int logLevel = program.spec().verifierLog().orElse(options.logLevel());
        return switch (load(command, logLevel)) {
            case LoadResult.Loaded loaded -> {
                bindConstants(program, loaded.fd());
                yield new Loaded(loaded.fd(), loaded.log());
            }
            case LoadResult.Refused refused -> throw refusal.explain(program, attachType, command, refused);
        };
    }

    /**
     * Lets the program hold also those read-only variables that it doesn't use (Linux 5.10). Tools look there for what
     * describes a program: {@code bpftool prog show} prints the variables whose names begin with {@code bpf_metadata_}. A
     * refusal costs no more than that.
     */
    private void bindConstants(AssembledProgram program, Fd loaded) {
        for (Fd map : constants) {
            if (!program.mentioned().contains(map) && !features.lacks(Feature.PROGRAM_BIND_MAP)) {
                try {
                    kernel.execute(new ProgCommand.BindMap(loaded, map));
                } catch (SyscallException e) {
                    System.getLogger(ProgramLoading.class.getName())
                            .log(System.Logger.Level.DEBUG, "going on without: " + e.getMessage());
                }
            }
        }
    }

    private LoadResult load(ProgCommand.Load command, int logLevel) {
        if (logLevel > 0) {
            LoadResult asked = logged(command, logLevel);
            boolean explained = (logLevel & (LoggedLoad.INSTRUCTIONS | LoggedLoad.EVERY_PATH)) != 0
                    && !asked.log().isEmpty();
            if (asked instanceof LoadResult.Loaded || explained) {
                return asked;
            }
        }
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> loaded;
            case LoadResult.Refused plain ->
                switch (logs.load(LoggedLoad.INSTRUCTIONS, false, log -> kernel.execute(command.withLog(log)))) {
                    // What is refused, then taken, was refused for a passing reason. Nobody asked for its log.
                    case LoadResult.Loaded loaded -> new LoadResult.Loaded(loaded.fd(), "");
                    case LoadResult.Refused refused -> isTooLong(refused) ? withLog(plain, refused) : refused;
                };
        };
    }

    /** The verdict, with as much of the log as there is room for. */
    private LoadResult logged(ProgCommand.Load command, int level) {
        LoadResult result = logs.load(level, true, log -> kernel.execute(command.withLog(log)));
        if (!(result instanceof LoadResult.Refused refused) || !isTooLong(refused)) {
            return result;
        }
        // That the log did not fit says nothing about the program.
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> new LoadResult.Loaded(loaded.fd(), refused.log());
            case LoadResult.Refused plain -> withLog(plain, refused);
        };
    }

    private static boolean isTooLong(LoadResult.Refused refused) {
        return refused.errno() == Errno.ENOSPC.number();
    }

    private static LoadResult withLog(LoadResult.Refused plain, LoadResult.Refused logged) {
        return new LoadResult.Refused(plain.errno(), logged.log(), logged.logSize());
    }

    /** A program in the kernel and the log of its verification, empty unless asked for. */
    record Loaded(Fd fd, String log) {}

    private int kernelVersion() {
        return options.kernelVersion()
                .map(KernelVersion::code)
                .orElseGet(() -> spec.version() != 0
                        ? spec.version()
                        : host.version().code());
    }

    private ProgCommand.Load command(
            AssembledProgram program, JumpTables tables, Optional<AttachType> attachType, AttachPoint point) {
        ProgramSpec of = program.spec();
        List<Instruction> fitted = OldKernelHelpers.fitted(tables.putInto(program.instructions()), features);
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
                .withMentioned(tables.and(program.mentioned()))
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
}
