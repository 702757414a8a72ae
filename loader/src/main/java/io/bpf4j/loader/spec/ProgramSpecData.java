package io.bpf4j.loader.spec;

import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.Optional;
import java.util.OptionalInt;

/** The only implementation of {@link ProgramSpec}. */
record ProgramSpecData(
        String name,
        String sectionName,
        Optional<SectionKind> kind,
        ProgramType type,
        Optional<AttachType> attachType,
        int flags,
        String target,
        int ifindex,
        boolean autoload,
        boolean autoloadSet,
        boolean autoattach,
        OptionalInt verifierLog,
        FunctionSpec function)
        implements ProgramSpec {}
