package io.bpf4j.test.support;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;

/** The three ways to attach USDT probes, each forced by taking away what comes before it. */
public enum Strategy {
    MULTI,
    COOKIE,
    IP_MAP;

    public Features features() {
        Features all = Features.ofRunningKernel();
        return switch (this) {
            case MULTI -> all;
            case COOKIE -> all.without(Feature.UPROBE_MULTI_LINK);
            case IP_MAP -> all.without(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE);
        };
    }

    /** A loader of one of our objects that goes this way, and whose programs look at one process only; 0 for all. */
    public BpfLoader loader(String object, int pid) {
        return Bpf.only(BpfLoader.of(Bpf.spec(object)).features(features()), pid);
    }
}
