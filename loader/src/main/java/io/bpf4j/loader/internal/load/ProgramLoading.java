package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.load.LoadedObject.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.plan.AssembledProgram;
import io.bpf4j.loader.internal.plan.AssembledProgram.Referent;
import io.bpf4j.loader.internal.plan.AttachPoint;
import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.LoaderLog;
import io.bpf4j.loader.internal.plan.ProgramPlan;
import io.bpf4j.loader.internal.types.ProgramBtf;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.KernelNames;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Passes assembled programs to the verifier. The first try has no log, which is faster; a rejected program is tried
 * again with a log ({@link LoggedLoad}). <i>Confined.</i>
 *
 * <p>Tested by {@code VerifierRefusalTest} and {@code LoadEditsTest}.
 */
final class ProgramLoading {
    private final Host host;
    private final Kernel kernel;
    private final Features features;
    private final ObjectSpec spec;
    private final int kernelVersion;
    private final @Nullable Fd btf;
    private final Map<String, KernelMap> maps;
    private final ModuleDescriptors modules;
    private final List<Fd> constants;
    private final ProgramRefusal refusal;
    private final LoggedLoad logs = new LoggedLoad();

    /**
     * For the programs of an object.
     *
     * @param types its BTF in the kernel
     * @param maps its maps by name
     */
    ProgramLoading(
            Host host,
            Features features,
            LoadPlan plan,
            BtfLoading types,
            Map<String, KernelMap> maps,
            ModuleDescriptors modules) {
        this.host = host;
        this.kernel = Kernel.of(host);
        this.features = features;
        this.spec = plan.spec();
        this.kernelVersion = plan.kernelVersion();
        this.btf = types.fd();
        this.maps = Map.copyOf(maps);
        this.modules = modules;
        this.constants = spec.maps().stream()
                .filter(map -> map.data().filter(DataSection::isConstant).isPresent())
                .map(map -> maps.get(map.name()))
                .filter(Objects::nonNull)
                .map(KernelMap::fd)
                .toList();
        this.refusal = new ProgramRefusal(host, spec, features, types.refusal());
    }

    /** Loads a program for an attach type; the caller closes the file descriptor. */
    LoadedProgram load(ProgramPlan program, Optional<AttachType> attachType) {
        AssembledProgram code = program.code().orElseThrow();
        try (UndoStack undo = new UndoStack()) {
            List<Fd> tables = JumpTables.createAll(host, features, program.name(), code.jumpTables(), undo);
            Set<Fd> referenced = new LinkedHashSet<>();
            List<Instruction> linked = link(code, tables, referenced);
            ProgCommand.Load command = command(program, attachType, linked, List.copyOf(referenced));
            return switch (load(command, program.logLevel())) {
                case LoadResult.Loaded loaded ->
                    loaded.fd().ownedBy(fd -> {
                        bindConstants(referenced, fd);
                        LoadedProgram done = new LoadedProgram(program, fd, attachType, loaded.log());
                        return UndoStack.closing(done, fd::close, undo::close); // the kernel holds the tables
                    });
                case LoadResult.Refused refused -> throw refusal.explain(program, attachType, command, refused);
            };
        }
    }

    /**
     * The code with the numbers of file descriptors in it.
     *
     * @param referenced receives these file descriptors, which must stay open during the system call
     */
    private List<Instruction> link(AssembledProgram code, List<Fd> tables, Set<Fd> referenced) {
        List<Instruction> linked = new ArrayList<>(code.instructions());
        for (AssembledProgram.Use use : code.uses()) {
            Fd fd = switch (use.of()) {
                case Referent.Map map ->
                    Objects.requireNonNull(maps.get(map.name())).fd();
                case Referent.Module module -> modules.of(module.name());
                case Referent.JumpTable table -> tables.get(table.index());
            };
            referenced.add(fd);
            linked.set(use.slot(), linked.get(use.slot()).withImm(fd.number()));
        }
        return linked;
    }

    /**
     * BTF of modules by the number in calls of their functions. The first entry stands for the kernel and is never
     * read.
     */
    private List<Fd> calledModules(AssembledProgram code) {
        List<Fd> calledModules = new ArrayList<>();
        code.modules().forEach(module -> calledModules.add(modules.of(module)));
        if (!calledModules.isEmpty()) {
            calledModules.addFirst(calledModules.getFirst());
        }
        return calledModules;
    }

    private ProgCommand.Load command(
            ProgramPlan program, Optional<AttachType> attachType, List<Instruction> linked, List<Fd> referenced) {
        ProgramSpec of = program.spec();
        AssembledProgram assembled = program.code().orElseThrow();
        List<Instruction> code = program.edit().apply(linked);
        // If the edit changed the length of the code, the offsets in the tables would be wrong.
        ProgCommand.Types types = code.size() == linked.size()
                ? new ProgCommand.Types(btf, assembled.functions(), assembled.lines())
                : new ProgCommand.Types(btf, ProgCommand.InfoTable.NONE, ProgCommand.InfoTable.NONE);
        return new ProgCommand.Load(
                of.type().number(),
                features.lacks(Feature.OBJECT_NAMES) ? "" : KernelNames.of(of.name()),
                Instructions.encode(code, spec.order()),
                spec.license(),
                of.flags(),
                of.ifindex(),
                kernelVersion,
                attachment(program, attachType),
                btf == null ? ProgCommand.Types.NONE : types,
                calledModules(assembled),
                referenced,
                ProgCommand.Log.NONE);
    }

    /** The function that the program is loaded for: of the kernel, of a module, or of another program. */
    private ProgCommand.Attachment attachment(ProgramPlan program, Optional<AttachType> attachType) {
        AttachPoint point = program.point().orElseThrow();
        int type = features.lacks(Feature.EXPECTED_ATTACH_TYPE)
                ? 0
                : point.member()
                        .orElseGet(() -> attachType.map(AttachType::number).orElse(0));
        ProgramHandle target = point.program();
        if (target == null) {
            return new ProgCommand.Attachment(
                    type, point.btfId(), point.module().isEmpty() ? null : modules.of(point.module()));
        }
        Fd fd = target.unwrap(Fd.class).orElseThrow();
        Btf types = ProgramBtf.of(kernel, fd)
                .orElseThrow(() -> new InvalidObjectException("program \"" + program.name()
                        + "\" is for a function of \"" + target.name() + "\", which was loaded without BTF"));
        String function = program.spec().target();
        int id = types.find(function, BtfKind.FUNC)
                .orElseThrow(() -> new RelocationException("program \"" + program.name() + "\": \"" + target.name()
                        + "\" has no function \"" + function + "\""));
        return new ProgCommand.Attachment(type, id, fd);
    }

    /**
     * Binds the read-only data to the program even if it doesn't use the data (Linux 5.10). Tools read metadata of a
     * program there: {@code bpftool prog show} prints the variables whose names begin with {@code bpf_metadata_}. If
     * the kernel refuses, only this metadata is missing.
     */
    private void bindConstants(Set<Fd> referenced, Fd loaded) {
        for (Fd map : constants) {
            if (!referenced.contains(map) && !features.lacks(Feature.PROGRAM_BIND_MAP)) {
                try {
                    kernel.execute(new ProgCommand.BindMap(loaded, map));
                } catch (SyscallException e) {
                    LoaderLog.debug("continuing without binding the map: " + e.getMessage());
                }
            }
        }
    }

    private LoadResult load(ProgCommand.Load command, int logLevel) {
        if (logLevel > 0) {
            LoadResult requested = logged(command, logLevel);
            boolean explained = (logLevel & (LoggedLoad.INSTRUCTIONS | LoggedLoad.EVERY_PATH)) != 0
                    && !requested.log().isEmpty();
            if (requested instanceof LoadResult.Loaded || explained) {
                return requested;
            }
        }
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> loaded;
            case LoadResult.Refused plain ->
                switch (logs.load(LoggedLoad.INSTRUCTIONS, false, log -> kernel.execute(command.withLog(log)))) {
                    // A program that is rejected and then accepted was rejected for a temporary reason. Its log was not
                    // requested.
                    case LoadResult.Loaded loaded -> new LoadResult.Loaded(loaded.fd(), "");
                    case LoadResult.Refused refused ->
                        LoggedLoad.isTooLong(refused) ? withLog(plain, refused) : refused;
                };
        };
    }

    /** The verdict, with as much of the log as fits. */
    private LoadResult logged(ProgCommand.Load command, int level) {
        LoadResult result = logs.load(level, true, log -> kernel.execute(command.withLog(log)));
        if (!(result instanceof LoadResult.Refused refused) || !LoggedLoad.isTooLong(refused)) {
            return result;
        }
        // ENOSPC is about the log, not about the program.
        return switch (kernel.execute(command)) {
            case LoadResult.Loaded loaded -> new LoadResult.Loaded(loaded.fd(), refused.log());
            case LoadResult.Refused plain -> withLog(plain, refused);
        };
    }

    private static LoadResult withLog(LoadResult.Refused plain, LoadResult.Refused logged) {
        return new LoadResult.Refused(plain.errno(), logged.log(), logged.logSize());
    }
}
