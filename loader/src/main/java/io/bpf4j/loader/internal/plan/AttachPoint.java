package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The function that a program is loaded for. It is named by its id in the BTF of the kernel, or of another program
 * whose function is replaced or traced. The meaning of the id depends on the attach type:
 *
 * <pre>
 *   fentry, fexit, fmod_ret   FUNC NAME; also of a module, NAME or MODULE:NAME
 *   fentry.multi and so on    none; the functions are named at attach
 *   tp_btf                    TYPEDEF btf_trace_NAME
 *   lsm, lsm_cgroup           FUNC bpf_lsm_NAME
 *   iter                      FUNC bpf_iter_NAME
 *   freplace                  FUNC NAME of the other program
 *   struct_ops                STRUCT, also of a module, with the index of one of its members
 * </pre>
 *
 * <p>Tested by {@code StructOpsOfModuleTest} and {@code DryRunTest}.
 *
 * @param btfId 0 for programs that need none, and for a program that targets a function of another program: that id is
 *     looked up at load
 * @param module whose BTF has the id; empty for the kernel itself
 * @param program the other program; null for the kernel
 * @param member index in the struct_ops struct; it is passed in the field that holds the attach type of other programs
 */
public record AttachPoint(
        int btfId, String module, @Nullable ProgramHandle program, OptionalInt member) {
    private static final AttachPoint NONE = new AttachPoint(0, "", null, OptionalInt.empty());

    /**
     * A function of a kernel struct.
     *
     * @param module that has the struct; empty for the kernel itself
     */
    static AttachPoint ofMember(int structId, int member, String module) {
        return new AttachPoint(structId, module, null, OptionalInt.of(member));
    }

    /**
     * The function of a program; a struct_ops program gets its point from {@link StructOpsImages}.
     *
     * @param target the program that has the function; null for the kernel
     */
    static AttachPoint of(ProgramSpec program, TargetKernel kernel, @Nullable ProgramHandle target) {
        ProgramType type = program.type();
        if (target != null) {
            if (type != ProgramType.EXT && type != ProgramType.TRACING) {
                throw new InvalidObjectException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                        + "\") can't be attached to functions of other programs: only freplace, fentry and fexit can");
            }
            requireName(program);
            return new AttachPoint(0, "", target, OptionalInt.empty());
        }
        if (type == ProgramType.EXT) {
            throw new InvalidObjectException("program \"" + program.name()
                    + "\" replaces a function of another program (freplace): load that program first, and pass it to"
                    + " BpfLoader.attachTo");
        }
        if (isForMany(program)) {
            return new AttachPoint(0, moduleOfMany(program, kernel), null, OptionalInt.empty());
        }
        return type == ProgramType.TRACING || type == ProgramType.LSM ? inKernel(program, kernel) : NONE;
    }

    private static void requireName(ProgramSpec program) {
        if (program.target().isEmpty()) {
            throw new InvalidObjectException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                    + "\") does not name the function that it is for: use SEC(\"" + program.sectionName()
                    + "/NAME\"), or BpfLoader.program(\"" + program.name() + "\", p -> p.withTarget(\"NAME\"))");
        }
    }

    /** Whether the functions are named at attach, and only their BTF at load. */
    private static boolean isForMany(ProgramSpec program) {
        return program.attachType()
                .filter(type -> AttachTraits.of(type).many().equals(AttachTraits.FUNCTIONS))
                .isPresent();
    }

    /** The module of the functions in {@code MODULE:PATTERN}; empty for the kernel itself. */
    private static String moduleOfMany(ProgramSpec program, TargetKernel kernel) {
        String module = moduleOf(program);
        if (module.isEmpty() || module.equals("vmlinux")) {
            return "";
        }
        if (!kernel.hasModule(module)) {
            throw new RelocationException("program \"" + program.name() + "\" is for functions of module \"" + module
                    + "\" (SEC(\"" + program.sectionName() + "\")), which is not loaded or has no BTF");
        }
        return module;
    }

    private static String moduleOf(ProgramSpec program) {
        int colon = program.target().indexOf(':');
        return colon < 0 ? "" : program.target().substring(0, colon);
    }

    private static AttachPoint inKernel(ProgramSpec program, TargetKernel kernel) {
        AttachTraits row = AttachTraits.of(program.attachType().orElse(AttachType.TRACE_FENTRY));
        requireName(program);
        String name = row.prefix() + program.target().substring(program.target().indexOf(':') + 1);
        TargetKernel.Found found = kernel.find(moduleOf(program), name, row.kind())
                .orElseThrow(() -> new RelocationException("program \"" + program.name() + "\": this kernel has no \""
                        + name + "\" (SEC(\"" + program.sectionName() + "\")), " + kernel.searched()));
        return new AttachPoint(found.id(), found.module(), null, OptionalInt.empty());
    }
}
