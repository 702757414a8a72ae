package io.bpf4j.loader.spec;

import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import java.util.Optional;

/**
 * What the name of a program's section says about the program. <i>Immutable.</i>
 *
 * <p>Names are those that libbpf made the convention: documented in the kernel's
 * Documentation/bpf/libbpf/program_types.rst.
 *
 * @param name such as {@code kprobe}, {@code cgroup/connect4}, {@code xdp.frags/devmap}
 * @param type the program type
 * @param attachType expected attach type; empty where the type has none
 * @param target whether something follows the name, after a slash
 * @param sleepable whether the program is loaded with BPF_F_SLEEPABLE
 * @param frags whether the program is loaded with BPF_F_XDP_HAS_FRAGS
 */
public record SectionKind(
        String name,
        ProgramType type,
        Optional<AttachType> attachType,
        Target target,
        boolean sleepable,
        boolean frags) {
    /** Whether a section's name goes on after the kind's. */
    public enum Target {
        /** {@code SEC("xdp")}: nothing follows. */
        NONE,
        /** {@code SEC("kprobe")} and {@code SEC("kprobe/do_exit")}. */
        OPTIONAL
    }

    /** The kind of a section's name, the longest that fits; empty if none does. */
    public static Optional<SectionKind> of(String sectionName) {
        return SectionKinds.find(sectionName);
    }

    boolean matches(String sectionName) {
        return sectionName.equals(name) || (target == Target.OPTIONAL && sectionName.startsWith(name + "/"));
    }

    String targetOf(String sectionName) {
        return sectionName.length() > name.length() ? sectionName.substring(name.length() + 1) : "";
    }
}
