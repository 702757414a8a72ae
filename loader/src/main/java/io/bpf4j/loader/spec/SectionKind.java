package io.bpf4j.loader.spec;

import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;
import java.util.Optional;

/**
 * A kind of section name, and the properties that it gives a program. <i>Immutable.</i>
 *
 * <p>The names are libbpf's, documented in the kernel's Documentation/bpf/libbpf/program_types.rst.
 * docs/section-names.md is generated from {@link #all()}.
 *
 * @param name its name, such as {@code kprobe}, {@code cgroup/connect4}, {@code xdp.frags/devmap}
 * @param type the program type
 * @param attachType the expected attach type; empty if the type has none
 * @param target whether a target follows the name after a slash, and its meaning
 * @param form the syntax of the target, such as {@code FUNCTION[+OFFSET]}; empty if the kind has none
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
    /** Whether a target follows the kind's name in a section name. */
    public enum Target {
        /** {@code SEC("xdp")}: no target. The program is attached to a target given in code. */
        NONE,
        /** {@code SEC("kprobe/do_exit")}: the place to attach to, for attaching by section name. Optional. */
        PLACE,
        /**
         * {@code SEC("lsm_cgroup/socket_bind")}, {@code SEC("struct_ops/init")}: the program's role, not the place to
         * attach to, which is given in code. Optional.
         */
        ROLE
    }

    /** The kind of a section name, the longest that matches; empty if none matches. */
    public static Optional<SectionKind> of(String sectionName) {
        return SectionKinds.find(sectionName);
    }

    /** Every kind. */
    public static List<SectionKind> all() {
        return SectionKinds.all();
    }
}
