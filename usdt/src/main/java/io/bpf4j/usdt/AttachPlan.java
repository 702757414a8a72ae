package io.bpf4j.usdt;

import io.bpf4j.sys.Diagnostic;
import java.util.List;

/**
 * The plan of an attachment, made before its first step. <b>Immutable</b>.
 *
 * @param strategy how sites are attached
 * @param reasons why the strategy is not a better one, which is the subject
 * @param files the probes of each file, in the order in which the probes were given
 */
record AttachPlan(AttachStrategy strategy, List<Diagnostic> reasons, List<File> files) {
    AttachPlan {
        reasons = List.copyOf(reasons);
        files = List.copyOf(files);
    }

    /**
     * The probes of one file: one link, if the strategy is {@link AttachStrategy#MULTI}.
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

    /** The number of sites in all files together. */
    int siteCount() {
        return files.stream().mapToInt(File::siteCount).sum();
    }
}
