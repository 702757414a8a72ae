package io.bpf4j.usdt;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Chooses the strategy. A pure function: the same features, program and probes give the same plan.
 *
 * <p>The choice is made twice. When the program is loaded, its attach type decides whether it can take a multi link,
 * and cannot be changed after ({@link #forLoading}). When it is attached, the plan follows from that, and says no where
 * the kernel would say yes and do something else than asked ({@link #plan}).
 *
 * <p>Multi links came in 6.6, but until 6.10 their pid meant one thread: events of all other threads of the process
 * were dropped, silently. As libbpf does, bpf4j takes multi links for missing on such kernels, when it loads; a
 * program that was loaded for them nevertheless may be attached to all processes.
 */
final class AttachPlanner {
    private AttachPlanner() {}

    /** The strategy that a program should be loaded for. */
    static AttachStrategy forLoading(Features features) {
        if (!features.has(Feature.BPF_COOKIE)) {
            return AttachStrategy.IP_MAP;
        }
        return features.has(Feature.UPROBE_MULTI_LINK) && features.has(Feature.UPROBE_MULTI_PROCESS)
                ? AttachStrategy.MULTI
                : AttachStrategy.COOKIE;
    }

    /**
     * The plan for a program that is loaded.
     *
     * @param what the probes in a few words, for messages: {@code attach hotspot:gc__begin in /…/libjvm.so}
     * @param loadedForMulti whether the program's attach type is BPF_TRACE_UPROBE_MULTI
     * @throws UnsupportedFeatureException if there is no way to attach as asked
     */
    static AttachPlan plan(
            String what, Features features, boolean loadedForMulti, List<UsdtProbe> probes, OptionalInt pid) {
        boolean semaphores = probes.stream().flatMap(p -> p.sites().stream()).anyMatch(UsdtSite::hasSemaphore);
        if (semaphores && !features.has(Feature.UPROBE_REF_COUNTER)) {
            throw new UnsupportedFeatureException(
                    what,
                    Feature.UPROBE_REF_COUNTER,
                    "the probe has a semaphore, and would never fire while nobody raises it");
        }
        if (!loadedForMulti) {
            String why = features.has(Feature.UPROBE_MULTI_LINK)
                    ? "this program was not loaded for it; load it with SEC(\"usdt\"), or set its attach type"
                    : features.support(Feature.UPROBE_MULTI_LINK).reason();
            throw new UnsupportedFeatureException(what, Feature.UPROBE_MULTI_LINK, why);
        }
        if (!features.has(Feature.UPROBE_MULTI_LINK)) {
            throw new UnsupportedFeatureException(
                    what,
                    Feature.UPROBE_MULTI_LINK,
                    features.support(Feature.UPROBE_MULTI_LINK).reason());
        }
        if (pid.isPresent() && !features.has(Feature.UPROBE_MULTI_PROCESS)) {
            throw new UnsupportedFeatureException(
                    what, Feature.UPROBE_MULTI_PROCESS, "without a pid, all processes can be traced");
        }
        List<String> reasons = List.of("the kernel has uprobe_multi, and the program was loaded for it");
        return new AttachPlan(AttachStrategy.MULTI, reasons, byFile(probes));
    }

    private static List<AttachPlan.File> byFile(List<UsdtProbe> probes) {
        Map<UsdtBinary, List<AttachPlan.Site>> sites = new LinkedHashMap<>();
        for (UsdtProbe probe : probes) {
            List<AttachPlan.Site> list = sites.computeIfAbsent(probe.binary(), b -> new ArrayList<>());
            for (UsdtSite site : probe.sites()) {
                list.add(new AttachPlan.Site(probe, site));
            }
        }
        return sites.entrySet().stream()
                .map(e -> new AttachPlan.File(e.getKey(), e.getValue()))
                .toList();
    }
}
