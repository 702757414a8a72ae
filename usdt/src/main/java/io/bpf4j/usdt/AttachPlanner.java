package io.bpf4j.usdt;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Chooses the strategy. A pure function: the same features and probes give the same plan.
 *
 * <p>Two features decide, each twice: when the program is loaded and when it is attached.
 *
 * <p><b>Cookies.</b> A program built with {@code usdt.bpf.h} reads the constant LINUX_HAS_BPF_COOKIE, which the loader
 * sets from the features, to know whether its spec's number is in the cookie or in the IP map. Without cookies there is
 * nothing left to choose: the IP map it is.
 *
 * <p><b>Multi links.</b> They came in 6.6, but until 6.10 their pid meant one thread: events of all other threads of the
 * process were dropped, silently. As libbpf does, bpf4j takes them for missing on such kernels. A program is loaded either
 * for a multi link or for perf events; the other one takes a second copy, which the loader makes on demand.
 *
 * <p><b>Where the kernel could not be asked</b>, for want of a right, cookies are taken for there, as the loader does: if
 * they are not, the verifier says so. A multi link is not: a wrong guess at what its pid means would show in nothing but
 * events that are missing, and single uprobes do the same on every kernel.
 *
 * <p><b>Without cookies</b> the absolute address of a site must be known, so the file has a fixed address or the process
 * is given.
 */
final class AttachPlanner {
    private AttachPlanner() {}

    /** The strategy that suits these features best, whatever the probes. */
    static AttachStrategy strategy(Features features) {
        if (features.lacks(Feature.BPF_COOKIE)) {
            return AttachStrategy.IP_MAP;
        }
        return features.has(Feature.UPROBE_MULTI_LINK) && features.has(Feature.UPROBE_MULTI_PROCESS)
                ? AttachStrategy.MULTI
                : AttachStrategy.COOKIE;
    }

    /**
     * The plan for some probes.
     *
     * @param what the probes in a few words, for messages: {@code attach hotspot:gc__begin in /…/libjvm.so}
     * @throws UnsupportedFeatureException if there is no way to attach as asked
     */
    static AttachPlan plan(String what, Features features, List<UsdtProbe> probes, OptionalInt pid) {
        boolean semaphores = probes.stream().anyMatch(probe -> probe.columns().haveSemaphores());
        if (semaphores && features.lacks(Feature.UPROBE_REF_COUNTER)) {
            throw new UnsupportedFeatureException(
                    what,
                    Feature.UPROBE_REF_COUNTER,
                    "a probe has a semaphore, and would never fire while nobody raises it");
        }
        AttachStrategy strategy = strategy(features);
        List<String> reasons = switch (strategy) {
            case MULTI -> List.of("one uprobe_multi link for all sites of a file");
            case COOKIE -> List.of(whyNotMulti(features), "a perf uprobe for each site, its spec ID as cookie");
            case IP_MAP ->
                List.of(
                        missing(features, Feature.BPF_COOKIE),
                        "a perf uprobe for each site, its spec found by its address");
        };
        if (strategy == AttachStrategy.IP_MAP
                && pid.isEmpty()
                && probes.stream().anyMatch(p -> !p.binary().fixedAddress())) {
            throw new UnsupportedFeatureException(
                    what,
                    Feature.BPF_COOKIE,
                    "without them the address of a site must be known, and that of a shared library is known for one"
                            + " process only: pass a pid");
        }
        return new AttachPlan(strategy, reasons, byFile(probes));
    }

    /** The same sites, one by one, if that may succeed where a multi link failed. */
    static Optional<AttachPlan> perSite(AttachPlan plan, UsdtException failure) {
        return plan.strategy() == AttachStrategy.MULTI && isAboutMultiLinks(failure)
                ? Optional.of(new AttachPlan(
                        AttachStrategy.COOKIE,
                        List.of(
                                "the multi link failed: " + failure.getMessage(),
                                "a perf uprobe for each site instead"),
                        plan.files()))
                : Optional.empty();
    }

    /**
     * Whether a failure is about multi links, rather than about the sites or the process. EINVAL is not, which a bad offset
     * gives as well, nor ENOTSUPP, which an instruction gives that can't be probed: attaching thousands of sites one by one,
     * to fail at the same, and then to wait a tenth of a second for each to be detached, is no help.
     */
    private static boolean isAboutMultiLinks(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SyscallException refused) {
                return switch (refused.errno()) {
                    case EOPNOTSUPP, ENOSYS, E2BIG -> true;
                    default -> false;
                };
            }
        }
        return false;
    }

    private static String whyNotMulti(Features features) {
        return missing(
                features,
                features.has(Feature.UPROBE_MULTI_LINK) ? Feature.UPROBE_MULTI_PROCESS : Feature.UPROBE_MULTI_LINK);
    }

    private static String missing(Features features, Feature feature) {
        return (features.lacks(feature) ? "no " : "not known whether there is ") + feature.description()
                + " (requires Linux >= " + feature.since() + "): "
                + features.support(feature).reason();
    }

    private static List<AttachPlan.File> byFile(List<UsdtProbe> probes) {
        Map<UsdtBinary, List<UsdtProbe>> files = new LinkedHashMap<>();
        probes.forEach(probe ->
                files.computeIfAbsent(probe.binary(), _ -> new ArrayList<>()).add(probe));
        List<AttachPlan.File> plans = new ArrayList<>();
        files.forEach((binary, ofFile) -> plans.add(new AttachPlan.File(binary, ofFile)));
        return plans;
    }
}
