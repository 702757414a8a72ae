package io.bpf4j.loader.spec;

import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import java.util.List;
import java.util.Optional;

/**
 * What the name of a program's section says about the program. <i>Immutable.</i>
 *
 * <p>Names are those that libbpf made the convention: documented in the kernel's
 * Documentation/bpf/libbpf/program_types.rst. docs/section-names.md is made from {@link #all()}.
 *
 * @param name such as {@code kprobe}, {@code cgroup/connect4}, {@code xdp.frags/devmap}
 * @param type the program type
 * @param attachType expected attach type; empty where the type has none
 * @param target whether something follows the name, after a slash, and what it is for
 * @param form how that which follows is written, such as {@code FUNCTION[+OFFSET]}; empty if nothing does
 * @param sleepable whether the program is loaded with BPF_F_SLEEPABLE
 * @param frags whether the program is loaded with BPF_F_XDP_HAS_FRAGS
 */
public record SectionKind(
        String name,
        ProgramType type,
        Optional<AttachType> attachType,
        Target target,
        String form,
        boolean sleepable,
        boolean frags) {
    /** Whether a section's name goes on after the kind's. */
    public enum Target {
        /** {@code SEC("xdp")}: nothing follows. The program is attached to a target given in code. */
        NONE,
        /** {@code SEC("kprobe/do_exit")}: where it is attached, so that attaching by name can do it. May be left out. */
        PLACE,
        /**
         * {@code SEC("lsm_cgroup/socket_bind")}, {@code SEC("struct_ops/init")}: what it is, and not yet where it is
         * attached, which is said in code. May be left out.
         */
        ROLE
    }

    /** The kind of a section's name, the longest that fits; empty if none does. */
    public static Optional<SectionKind> of(String sectionName) {
        return SectionKinds.find(sectionName);
    }

    /** Every kind. */
    public static List<SectionKind> all() {
        return SectionKinds.all();
    }

    boolean matches(String sectionName) {
        return sectionName.equals(name) || (target != Target.NONE && sectionName.startsWith(name + "/"));
    }

    String targetOf(String sectionName) {
        return sectionName.length() > name.length() ? sectionName.substring(name.length() + 1) : "";
    }
}
