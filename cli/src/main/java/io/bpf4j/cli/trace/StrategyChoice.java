package io.bpf4j.cli.trace;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;

/** The way of attaching that a person asks for. */
public enum StrategyChoice {
    /** The best that the kernel has. */
    AUTO,
    /** One uprobe_multi link for each file; refused where the kernel has none. */
    MULTI,
    /** A perf uprobe for each site, its spec ID as BPF cookie. */
    COOKIE,
    /** A perf uprobe for each site, its spec found by the instruction's address. */
    IPMAP;

    /**
     * The features that leave no other way: those that a better way needs are taken away, and those that this one needs
     * must be there.
     *
     * @throws io.bpf4j.loader.error.UnsupportedFeatureException if the kernel has not what the choice needs
     */
    public Features features(Features kernel) {
        return switch (this) {
            case AUTO -> kernel;
            case MULTI -> {
                kernel.require(Feature.UPROBE_MULTI_LINK, "--strategy multi");
                kernel.require(Feature.UPROBE_MULTI_PROCESS, "--strategy multi");
                yield kernel;
            }
            case COOKIE -> {
                kernel.require(Feature.BPF_COOKIE, "--strategy cookie");
                yield kernel.without(Feature.UPROBE_MULTI_LINK);
            }
            case IPMAP -> kernel.without(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE);
        };
    }
}
