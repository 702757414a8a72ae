package io.bpf4j.loader.spec;

import io.bpf4j.loader.kernel.ProgramType;
import java.util.Optional;

/**
 * A program as an object defines it. <i>Immutable.</i>
 *
 * @param name of its function
 * @param sectionName as in {@code SEC("…")}, without a leading {@code ?}
 * @param kind what the section's name says; empty if bpf4j does not know that name
 * @param autoload false where the section starts with {@code ?}: loaded only if asked for
 * @param function its entry
 */
public record ProgramSpec(
        String name, String sectionName, Optional<SectionKind> kind, boolean autoload, FunctionSpec function) {
    /** The program type, {@link ProgramType#UNSPEC} where the section's name does not tell. */
    public ProgramType type() {
        return kind.map(SectionKind::type).orElse(ProgramType.UNSPEC);
    }

    /** What follows the kind's name in the section's name, without the slash: the target; empty if nothing does. */
    public String target() {
        return kind.map(k -> k.targetOf(sectionName)).orElse("");
    }

    /** Whether it may sleep, and so read user memory that is paged out. */
    public boolean isSleepable() {
        return kind.map(SectionKind::sleepable).orElse(false);
    }
}
