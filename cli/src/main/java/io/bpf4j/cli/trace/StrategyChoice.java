package io.bpf4j.cli.trace;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.kernel.Feature;

/**
 * The strategy that the user chooses.
 *
 * <p>Tested by {@code CliStrategyTest}.
 */
public enum StrategyChoice {
    /** The best strategy that the kernel supports. */
    AUTO,
    /** One uprobe_multi link for each file; refused if the kernel has no multi links. */
    MULTI,
    /** A perf uprobe for each site, its spec ID in the BPF cookie. */
    COOKIE,
    /** A perf uprobe for each site, its spec found by the instruction's address. */
    IPMAP;

    /**
     * The kernel's features without those that would allow a better strategy, so that this one is chosen.
     *
     * @throws io.bpf4j.loader.error.UnsupportedFeatureException if the kernel lacks a feature that the choice needs
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
