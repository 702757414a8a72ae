package io.bpf4j.usdt;

import java.util.List;

/**
 * What an attachment will do, decided before anything is done. <b>Immutable</b>.
 *
 * @param strategy how sites are attached
 * @param reasons why this strategy and not a better one: one sentence each, without a full stop
 * @param files what is attached to in each file, in the order in which the probes were given
 */
record AttachPlan(AttachStrategy strategy, List<String> reasons, List<File> files) {
    AttachPlan {
        reasons = List.copyOf(reasons);
        files = List.copyOf(files);
    }

    /**
     * The probes of one file: one link, where the strategy is {@link AttachStrategy#MULTI}.
     *
     * @param probes at least one
     */
    record File(UsdtBinary binary, List<UsdtProbe> probes) {
        File {
            probes = List.copyOf(probes);
        }

        int siteCount() {
            return probes.stream().mapToInt(probe -> probe.sites().size()).sum();
        }

        /** The probe of a site, by its number from 0 among all sites of the probes. */
        UsdtProbe probeOf(int site) {
            int left = site;
            for (UsdtProbe probe : probes) {
                left -= probe.sites().size();
                if (left < 0) {
                    return probe;
                }
            }
            throw new IndexOutOfBoundsException(site);
        }
    }

    /** Sites in all files together. */
    int siteCount() {
        return files.stream().mapToInt(File::siteCount).sum();
    }
}
