package io.bpf4j.loader;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.AttachType;
import java.util.Optional;

/**
 * Attaches programs with certain section names: an extension point, found by {@link java.util.ServiceLoader}. The USDT
 * module provides one for {@code SEC("usdt…")}. Implementations are <i>thread-safe</i>.
 */
public interface SectionAttacher {
    /** Whether this attacher handles the program. */
    boolean handles(ProgramSpec program);

    /**
     * The attach type to load the program with. The kernel fixes it at load, so the method of attaching is chosen here.
     *
     * @return empty for none
     */
    Optional<AttachType> attachType(ProgramSpec program, Features features);

    /**
     * Attaches a program to the target in its section name.
     *
     * @throws io.bpf4j.loader.error.AttachException if attaching fails, or if the section name has no target
     */
    Link attach(Program program);
}
