package io.bpf4j.loader;

import io.bpf4j.loader.spec.ProgramSpec;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The attachers that other modules provide. */
final class SectionAttachers {
    private SectionAttachers() {}

    private static final class Provided {
        static final List<SectionAttacher> ALL =
                ServiceLoader.load(SectionAttacher.class, SectionAttacher.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
    }

    static Optional<SectionAttacher> of(ProgramSpec program) {
        return Provided.ALL.stream().filter(a -> a.handles(program)).findFirst();
    }
}
