package io.bpf4j.loader.spec;

import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.ProgramType;
import java.util.Optional;

/** The one implementation of {@link SectionKind}. */
record SectionKindData(
        String name,
        ProgramType type,
        Optional<AttachType> attachType,
        SectionKind.Target target,
        String form,
        boolean sleepable,
        boolean frags)
        implements SectionKind {}
