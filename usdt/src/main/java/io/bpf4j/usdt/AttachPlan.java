package io.bpf4j.usdt;

import io.bpf4j.usdt.site.UsdtSite;
import java.util.List;

/**
 * What an attachment will do, decided before anything is done. <b>Immutable</b>.
 *
 * @param strategy how sites are attached
 * @param reasons why this strategy and not a better one: one sentence each, without a full stop
 * @param files the sites by file, in the order in which the probes were given
 */
public record AttachPlan(AttachStrategy strategy, List<String> reasons, List<File> files) {
    public AttachPlan {
        reasons = List.copyOf(reasons);
        files = List.copyOf(files);
    }

    /**
     * The sites in one file: one link, where the strategy is {@link AttachStrategy#MULTI}.
     *
     * @param sites at least one
     */
    public record File(UsdtBinary binary, List<Site> sites) {
        public File {
            sites = List.copyOf(sites);
        }
    }

    /** A site and the probe that it belongs to. */
    public record Site(UsdtProbe probe, UsdtSite site) {}

    /** Sites in all files together. */
    public int siteCount() {
        return files.stream().mapToInt(f -> f.sites().size()).sum();
    }
}
