package io.bpf4j.loader;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.Optional;

/**
 * Attaches programs of some section names: an extension point, found by {@link java.util.ServiceLoader}. The USDT module
 * provides one for {@code SEC("usdt…")}. Implementations are <i>thread-safe</i>.
 */
public interface SectionAttacher {
    /** Whether it is for programs like this one. */
    boolean handles(ProgramSpec program);

    /**
     * The attach type to load the program with. The kernel fixes it at load, so the way of attaching is chosen here.
     *
     * @return empty for none
     */
    Optional<AttachType> attachType(ProgramSpec program, Features features);

    /**
     * Attaches a program as its section's name says.
     *
     * @throws io.bpf4j.loader.error.AttachException if it can't, or if the section's name doesn't say to what
     */
    Link attach(Program program);
}
