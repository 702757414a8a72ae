package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.kernel.Feature;
import org.jspecify.annotations.Nullable;

/** An operation needs a feature that this kernel lacks, or that the caller disabled. <i>Immutable.</i> */
public final class UnsupportedFeatureException extends BpfException {
    private static final long serialVersionUID = 1L;

    private final Feature feature;

    /**
     * Creates the exception with all parts of its message.
     *
     * @param operation the attempted operation, with its object: {@code attach gc__begin in libjvm.so}
     * @param feature the missing feature
     * @param reason how the absence was detected or what to do instead, as the end of a sentence; may be null
     */
    public UnsupportedFeatureException(String operation, Feature feature, @Nullable String reason) {
        super(operation + ": " + feature.description() + " not supported (requires Linux >= " + feature.since() + ")"
                + (reason == null || reason.isEmpty() ? "" : "; " + reason));
        this.feature = feature;
    }

    public Feature feature() {
        return feature;
    }
}
