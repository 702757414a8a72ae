package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * Programs that are loaded for one function of the kernel name it by its BTF id. What that id stands for depends on the
 * attach type:
 *
 * <pre>
 *   fentry, fexit, fmod_ret   FUNC NAME
 *   tp_btf                    TYPEDEF btf_trace_NAME
 *   lsm, lsm_cgroup           FUNC bpf_lsm_NAME
 *   iter                      FUNC bpf_iter_NAME
 * </pre>
 */
final class AttachBtfId {
    private AttachBtfId() {}

    /** The id; 0 for programs that need none. */
    static int of(ProgramSpec program, Supplier<CoreTarget> kernel) {
        ProgramType type = program.type();
        if (type == ProgramType.EXT) {
            throw new InvalidObjectException("program \"" + program.name()
                    + "\" replaces a function of another program (freplace), which has to be loaded and named first;"
                    + " this version of bpf4j can't");
        }
        if (type == ProgramType.STRUCT_OPS) {
            throw new InvalidObjectException("program \"" + program.name()
                    + "\" belongs to a struct_ops map, which this version of bpf4j can't make");
        }
        if (type != ProgramType.TRACING && type != ProgramType.LSM) {
            return 0;
        }
        AttachType attachType = program.kind().flatMap(k -> k.attachType()).orElse(AttachType.TRACE_FENTRY);
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
        if (program.target().isEmpty()) {
            throw new InvalidObjectException("program \"" + program.name() + "\" in SEC(\"" + program.sectionName()
                    + "\") has to say which function of the kernel it is for: SEC(\"" + program.sectionName()
                    + "/NAME\")");
        }
        Btf types = kernel.get().kernel();
        OptionalInt id = types.find(prefix + program.target(), kind);
        if (id.isEmpty()) {
            throw new RelocationException("program \"" + program.name() + "\": this kernel has no \"" + prefix
                    + program.target() + "\" (SEC(\"" + program.sectionName() + "\"))");
        }
        return id.getAsInt();
    }
}
