package io.bpf4j.loader.error;

import io.bpf4j.loader.kernel.Feature;
import org.jspecify.annotations.Nullable;

/** What was asked needs a feature that this kernel does not have, or that was taken away. <i>Immutable.</i> */
public final class UnsupportedFeatureException extends BpfException {
    private static final long serialVersionUID = 1L;

    private final Feature feature;

    /**
     * With all that the message needs.
     *
     * @param what what was tried, with the thing it was for: {@code attach gc__begin in libjvm.so}
     * @param feature what is missing
     * @param reason how its absence shows or what to do instead, as the end of a sentence; null if there is nothing to add
     */
    public UnsupportedFeatureException(String what, Feature feature, @Nullable String reason) {
        super(what + ": " + feature.description() + " not supported (requires Linux >= " + feature.since() + ")"
                + (reason == null || reason.isEmpty() ? "" : "; " + reason));
        this.feature = feature;
    }

    public Feature feature() {
        return feature;
    }
}
