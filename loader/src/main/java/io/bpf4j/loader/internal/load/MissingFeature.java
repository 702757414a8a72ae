package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.util.Optional;

/**
 * Explains a rejection: the kernel returns EINVAL for everything that it does not know. After EINVAL, and only then, a
 * feature probe checks whether the kernel knows the requested feature.
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code VerifierRefusalTest}.
 */
public final class MissingFeature {
    private MissingFeature() {}

    /** Why a map could not be created; empty if no feature is missing. */
    static Optional<UnsupportedFeatureException> of(MapSpec map, int errno, Features features) {
        if (errno != Errno.EINVAL.number()) {
            return Optional.empty();
        }
        String operation = "create map \"" + map.name() + "\"";
        return MapTraits.of(map.typeNumber()).feature().flatMap(feature -> missing(operation, feature, features));
    }

    /** Why a program could not be loaded; empty if no feature is missing. */
    static Optional<UnsupportedFeatureException> of(
            ProgramSpec program, Optional<AttachType> attachType, int errno, Features features) {
        if (errno != Errno.EINVAL.number() && errno != Errno.E2BIG.number()) {
            return Optional.empty();
        }
        String operation = "load program \"" + program.name() + "\"";
        return attachType
                .flatMap(MissingFeature::of)
                .flatMap(feature -> missing(operation, feature, features))
                .or(() -> of(program).flatMap(feature -> missing(operation, feature, features)));
    }

    /** The feature that added an attach type. */
    public static Optional<Feature> of(AttachType type) {
        return Optional.ofNullable(
                switch (type) {
                    case TRACE_UPROBE_MULTI -> Feature.UPROBE_MULTI_LINK;
                    case TRACE_UPROBE_SESSION -> Feature.UPROBE_SESSION;
                    case TRACE_KPROBE_MULTI, TRACE_KPROBE_SESSION -> Feature.KPROBE_MULTI_LINK;
                    case TRACE_FSESSION -> Feature.TRACING_SESSION;
                    case TRACE_FENTRY_MULTI, TRACE_FEXIT_MULTI, TRACE_FSESSION_MULTI -> Feature.TRACING_MULTI_LINK;
                    default -> null;
                });
    }

    private static Optional<Feature> of(ProgramSpec program) {
        return switch (program.type()) {
            case KPROBE -> program.isSleepable() ? Optional.of(Feature.SLEEPABLE_UPROBE) : Optional.empty();
            case RAW_TRACEPOINT -> Optional.of(Feature.RAW_TRACEPOINT);
            default -> Optional.empty();
        };
    }

    private static Optional<UnsupportedFeatureException> missing(String operation, Feature feature, Features features) {
        // An unknown result explains nothing: the rejection is reported unchanged.
        return features.support(feature) instanceof Support.Absent absent
                ? Optional.of(new UnsupportedFeatureException(operation, feature, absent.reason()))
                : Optional.empty();
    }
}
