package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The plan of an attachment, made before its first step. <i>Immutable.</i>
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

    /** The paths of the files by their identities, in order. */
    Map<FileIdentity, Path> paths() {
        Map<FileIdentity, Path> paths = new LinkedHashMap<>();
        files.forEach(file ->
                paths.putIfAbsent(file.binary().identity(), file.binary().path()));
        return paths;
    }

    /**
     * The plan without sites at which the breakpoint of an earlier file already is. A file that has no other sites is
     * left out.
     *
     * @param shared the earlier file, for each file that has its breakpoints in common with one
     */
    AttachPlan withoutShared(Map<FileIdentity, FileIdentity> shared) {
        if (shared.isEmpty()) {
            return this;
        }
        Map<FileIdentity, Set<Long>> planned = new HashMap<>();
        List<File> others = new ArrayList<>();
        for (File file : files) {
            FileIdentity identity = file.binary().identity();
            Set<Long> taken = planned.computeIfAbsent(shared.getOrDefault(identity, identity), _ -> new HashSet<>());
            Set<Long> before = Set.copyOf(taken);
            List<UsdtProbe> left = new ArrayList<>();
            for (UsdtProbe probe : file.probes()) {
                List<UsdtSite> sites = probe.sites().stream()
                        .filter(site -> !before.contains(site.fileOffset()))
                        .toList();
                sites.forEach(site -> taken.add(site.fileOffset()));
                if (!sites.isEmpty()) {
                    left.add(sites.size() == probe.sites().size() ? probe : probe.withSites(sites));
                }
            }
            if (!left.isEmpty()) {
                others.add(new File(file.binary(), left));
            }
        }
        return new AttachPlan(strategy, reasons, others);
    }

    /** The number of sites in all files together. */
    int siteCount() {
        return files.stream().mapToInt(File::siteCount).sum();
    }
}
