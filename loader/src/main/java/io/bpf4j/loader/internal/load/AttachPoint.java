package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.linux.ProgramBtf;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The function that a program is loaded for. It is named by its id in somebody's BTF: the kernel's, or that of another
 * program whose function is replaced or traced. What the id stands for depends on the attach type:
 *
 * <pre>
 *   fentry, fexit, fmod_ret   FUNC NAME; also of a module, NAME or MODULE:NAME
 *   fentry.multi and so on    none; the functions are named when it is attached
 *   tp_btf                    TYPEDEF btf_trace_NAME
 *   lsm, lsm_cgroup           FUNC bpf_lsm_NAME
 *   iter                      FUNC bpf_iter_NAME
 *   freplace                  FUNC NAME of the other program
 *   struct_ops                STRUCT, also of a module, with the index of one of its members
 * </pre>
 *
 * @param btfId 0 for programs that need none
 * @param program the other program, or the BTF of a module; null for the kernel
 * @param member index in a struct of functions; it goes where other programs have their attach type
 */
record AttachPoint(int btfId, @Nullable Fd program, OptionalInt member) {
    private static final AttachPoint NONE = new AttachPoint(0, null, OptionalInt.empty());

    /**
     * A function of a struct of the kernel's.
     *
     * @param module the BTF of the module that has the struct; null for the kernel itself
     */
    static AttachPoint ofMember(int structId, int member, @Nullable Fd module) {
        return new AttachPoint(structId, module, OptionalInt.of(member));
    }

    /**
     * The function of a program; one of struct_ops has its point from {@link StructOpsImages}.
     *
     * @param target the program whose function is meant; null for the kernel's
     */
    static AttachPoint of(
            ProgramSpec program,
            Supplier<CoreTarget> types,
            KernelModules modules,
            Kernel kernel,
            @Nullable ProgramHandle target) {
        ProgramType type = program.type();
        if (target != null) {
            return inProgram(program, kernel, target);
        }
        if (type == ProgramType.EXT) {
            throw new InvalidObjectException("program \"" + program.name()
                    + "\" replaces a function of another program (freplace): load that first, and name it with"
                    + " BpfLoader.attachTo");
        }
        if (isForMany(program)) {
            String module = moduleOf(program);
            return module.isEmpty()
                    ? NONE
                    : new AttachPoint(
                            0, modules.descriptor(requireModule(program, module, modules)), OptionalInt.empty());
        }
        return type == ProgramType.TRACING || type == ProgramType.LSM ? inKernel(program, types, modules) : NONE;
    }

    private static AttachPoint inProgram(ProgramSpec program, Kernel kernel, ProgramHandle target) {
        if (program.type() != ProgramType.EXT && program.type() != ProgramType.TRACING) {
            throw new InvalidObjectException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                    + "\") is not one that attaches to functions of other programs: freplace, fentry and fexit are");
        }
        requireName(program);
        Fd fd = target.unwrap(Fd.class)
                .orElseThrow(() -> new IllegalArgumentException(target.name() + " is no program of this library"));
        Btf types = ProgramBtf.of(kernel, fd)
                .orElseThrow(() -> new InvalidObjectException("program \"" + program.name()
                        + "\" is for a function of \"" + target.name() + "\", which was loaded without BTF"));
        int id = types.find(program.target(), BtfKind.FUNC)
                .orElseThrow(() -> new RelocationException("program \"" + program.name() + "\": \"" + target.name()
                        + "\" has no function \"" + program.target() + "\""));
        return new AttachPoint(id, fd, OptionalInt.empty());
    }

    private static void requireName(ProgramSpec program) {
        if (program.target().isEmpty()) {
            throw new InvalidObjectException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                    + "\") has to say which function it is for: SEC(\"" + program.sectionName()
                    + "/NAME\"), or BpfLoader.program(\"" + program.name() + "\", p -> p.withTarget(\"NAME\"))");
        }
    }

    private static AttachPoint inKernel(ProgramSpec program, Supplier<CoreTarget> kernel, KernelModules modules) {
        KernelModules.Found found = find(program, kernel, modules);
        boolean inModule = found.module().base().isPresent();
        return new AttachPoint(found.id(), inModule ? modules.descriptor(found.module()) : null, OptionalInt.empty());
    }

    /** Whether the functions are named when it is attached, and only the BTF that has them when it is loaded. */
    static boolean isForMany(ProgramSpec program) {
        return program.attachType()
                .filter(t -> t == AttachType.TRACE_FENTRY_MULTI
                        || t == AttachType.TRACE_FEXIT_MULTI
                        || t == AttachType.TRACE_FSESSION_MULTI)
                .isPresent();
    }

    /** Of {@code MODULE:PATTERN}; empty for the kernel itself. */
    static String moduleOf(ProgramSpec program) {
        int colon = program.target().indexOf(':');
        String module = colon < 0 ? "" : program.target().substring(0, colon);
        return module.equals("vmlinux") ? "" : module;
    }

    /** The module that many functions are of. */
    static Btf requireModule(ProgramSpec program, String module, KernelModules modules) {
        return modules.find(module)
                .orElseThrow(() -> new RelocationException("program \"" + program.name()
                        + "\" is for functions of module \"" + module + "\" (SEC(\"" + program.sectionName()
                        + "\")), which is not loaded or shows no types"));
    }

    /** The function of a program that is for one of the kernel's, or of its modules'. */
    static KernelModules.Found find(ProgramSpec program, Supplier<CoreTarget> kernel, KernelModules modules) {
        AttachType attachType = program.attachType().orElse(AttachType.TRACE_FENTRY);
        String prefix;
        BtfKind kind = BtfKind.FUNC;
        switch (attachType) {
            case TRACE_RAW_TP -> {
                prefix = "btf_trace_";
                kind = BtfKind.TYPEDEF;
            }
            case LSM_MAC, LSM_CGROUP -> prefix = "bpf_lsm_";
            case TRACE_ITER -> prefix = "bpf_iter_";
            default -> prefix = "";
        }
        requireName(program);
        int colon = program.target().indexOf(':');
        String module = colon < 0 ? "" : program.target().substring(0, colon);
        String name = prefix + program.target().substring(colon + 1);
        if (module.isEmpty() || module.equals("vmlinux")) {
            Btf types = kernel.get().kernel();
            OptionalInt id = types.find(name, kind);
            if (id.isPresent()) {
                return new KernelModules.Found(types, id.getAsInt());
            }
        }
        return modules.find(module, name, kind)
                .orElseThrow(() -> new RelocationException("program \"" + program.name() + "\": this kernel has no \""
                        + name + "\" (SEC(\"" + program.sectionName() + "\")), " + modules.searched()));
    }
}
