package io.bpf4j.usdt;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.usdt.internal.note.SiteColumns;
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
 * sets from the features, to know whether its spec ID is in the cookie or in the IP map. Without cookies only the IP
 * map is possible.
 *
 * <p><b>Multi links.</b> Linux 6.6 added them, but before 6.10 their pid selected one thread: events of all other
 * threads of the process were silently dropped. Like libbpf, bpf4j treats them as missing on such kernels. A program is
 * loaded either for a multi link or for perf events; the other use needs a second copy, which the loader makes on
 * demand.
 *
 * <p><b>If a feature probe gives unknown</b>, because a capability is missing, cookies count as present, as in the
 * loader: if they are missing, the verifier reports it. Multi links count as missing: a wrong assumption about their
 * pid would only show as missing events, and single uprobes work on every kernel.
 *
 * <p><b>Without cookies</b> the absolute address of a site must be known, so either the file has a fixed address or the
 * caller passes a pid.
 */
final class AttachPlanner {
    private AttachPlanner() {}

    /** The best strategy for these features, for any probes. */
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
     * @param operation what is attached, for messages: {@code attach hotspot:gc__begin in /…/libjvm.so}
     * @throws UnsupportedFeatureException if no strategy can attach as requested
     */
    static AttachPlan plan(String operation, Features features, List<UsdtProbe> probes, OptionalInt pid) {
        boolean semaphores =
                probes.stream().anyMatch(probe -> SiteColumns.of(probe.sites()).haveSemaphores());
        if (semaphores && features.lacks(Feature.UPROBE_REF_COUNTER)) {
            throw new UnsupportedFeatureException(
                    operation,
                    Feature.UPROBE_REF_COUNTER,
                    "a probe has a semaphore; nothing would increment it, and the probe would never fire");
        }
        AttachStrategy strategy = strategy(features);
        List<Diagnostic> reasons = switch (strategy) {
            case MULTI -> List.of();
            case COOKIE -> List.of(whyNot(AttachStrategy.MULTI, whyNotMulti(features)));
            case IP_MAP -> List.of(whyNot(AttachStrategy.COOKIE, missing(features, Feature.BPF_COOKIE)));
        };
        if (strategy == AttachStrategy.IP_MAP
                && pid.isEmpty()
                && probes.stream().anyMatch(p -> !p.binary().fixedAddress())) {
            throw new UnsupportedFeatureException(
                    operation,
                    Feature.BPF_COOKIE,
                    "without them the address of each site must be known, and the address of a shared library is known"
                            + " in one process only: pass a pid");
        }
        return new AttachPlan(strategy, reasons, byFile(probes));
    }

    /**
     * A plan for the same sites with single uprobes; empty if these would fail for the same reason as the multi link.
     */
    static Optional<AttachPlan> perSite(AttachPlan plan, UsdtException failure) {
        return plan.strategy() == AttachStrategy.MULTI && isAboutMultiLinks(failure)
                ? Optional.of(new AttachPlan(
                        AttachStrategy.COOKIE,
                        List.of(whyNot(AttachStrategy.MULTI, "the multi link failed: " + failure.getMessage())),
                        plan.files()))
                : Optional.empty();
    }

    /**
     * Whether a failure concerns multi links, rather than the sites or the process. EINVAL does not count, because a
     * bad offset gives it as well, nor does ENOTSUPP, which an instruction that can't be probed gives: thousands of
     * sites would be attached one by one, fail at the same site, and each need a tenth of a second to be detached.
     */
    private static boolean isAboutMultiLinks(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SyscallException refused) {
                // Opening the file and writing specs fail with the same errors.
                return refused.call().startsWith("bpf(BPF_LINK_CREATE)")
                        && switch (refused.errno()) {
                            case EOPNOTSUPP, ENOSYS, E2BIG -> true;
                            default -> false;
                        };
            }
        }
        return false;
    }

    private static Diagnostic whyNot(AttachStrategy better, String message) {
        return new Diagnostic(Diagnostic.Kind.HINT, better.name(), message);
    }

    private static String whyNotMulti(Features features) {
        return missing(
                features,
                features.has(Feature.UPROBE_MULTI_LINK) ? Feature.UPROBE_MULTI_PROCESS : Feature.UPROBE_MULTI_LINK);
    }

    private static String missing(Features features, Feature feature) {
        return (features.lacks(feature) ? "no " : "it is unknown whether the kernel has ") + feature.description()
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
