package io.bpf4j.usdt;

import io.bpf4j.loader.feature.Features;

/** How sites are attached, and how a BPF program that fires finds the spec of its site. */
public enum AttachStrategy {
    /** One uprobe_multi link for all sites of a file; the low half of a site's BPF cookie is its spec ID. Linux 6.6. */
    MULTI("one uprobe_multi link for all sites of a file"),
    /** A perf uprobe for each site, with the spec ID in the low half of its BPF cookie. Linux 5.15. */
    COOKIE("a perf uprobe for each site, with the spec ID in its cookie"),
    /** A perf uprobe for each site; the program looks its instruction pointer up in a map. Linux 4.17. */
    IP_MAP("a perf uprobe for each site, whose spec the program finds by the address");

    private final String description;

    AttachStrategy(String description) {
        this.description = description;
    }

    /** The strategy in words, for a user. */
    public String description() {
        return description;
    }

    /**
     * The best strategy for a kernel; programs are loaded for it. Removing features chooses another one: {@link
     * #COOKIE} without UPROBE_MULTI_LINK, {@link #IP_MAP} without BPF_COOKIE.
     */
    public static AttachStrategy bestFor(Features features) {
        return AttachPlanner.strategy(features);
    }
}
