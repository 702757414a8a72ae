package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.ProgramTraits;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.Optional;

/**
 * Explains a rejection: the kernel returns EINVAL for everything that it does not know. After EINVAL, and only then, a
 * feature probe checks whether the kernel knows the requested feature.
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code VerifierRefusalTest}.
 */
final class MissingFeature {
    private MissingFeature() {}

    /** Why a map could not be created; empty if no feature is missing. */
    static Optional<UnsupportedFeatureException> of(MapSpec map, int errno, Features features) {
        if (errno != Errno.EINVAL.number() && errno != Errno.E2BIG.number()) {
            return Optional.empty();
        }
        String operation = "create map \"" + map.name() + "\"";
        return MapTraits.of(map.typeNumber())
                .feature()
                .flatMap(feature -> missing(operation, feature, features))
                .or(() -> map.exclusiveProgram().flatMap(_ -> missing(operation, Feature.EXCLUSIVE_MAP, features)));
    }

    /** Why a program could not be loaded; empty if no feature is missing. */
    static Optional<UnsupportedFeatureException> of(
            ProgramSpec program, Optional<AttachType> attachType, int errno, Features features) {
        if (errno != Errno.EINVAL.number() && errno != Errno.E2BIG.number()) {
            return Optional.empty();
        }
        String operation = "load program \"" + program.name() + "\"";
        return attachType
                .flatMap(type -> AttachTraits.of(type).feature())
                .flatMap(feature -> missing(operation, feature, features))
                .or(() -> of(program).flatMap(feature -> missing(operation, feature, features)));
    }

    private static Optional<Feature> of(ProgramSpec program) {
        return program.type() == ProgramType.KPROBE && program.isSleepable()
                ? Optional.of(Feature.SLEEPABLE_UPROBE)
                : ProgramTraits.of(program.type()).feature();
    }

    private static Optional<UnsupportedFeatureException> missing(String operation, Feature feature, Features features) {
        // An unknown result explains nothing: the rejection is reported unchanged.
        return features.support(feature) instanceof Support.Absent absent
                ? Optional.of(new UnsupportedFeatureException(operation, feature, absent.reason()))
                : Optional.empty();
    }
}
