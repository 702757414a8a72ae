package io.bpf4j.loader.feature;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.Feature;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The features of a kernel that bpf4j uses. <i>Thread-safe.</i>
 *
 * <p>Each feature is probed on the first request. A result of present or absent is kept; an unknown result is probed
 * again. {@link #without} disables features, to simulate a kernel that lacks them, or to force another method.
 */
public final class Features {
    private final Map<Feature, Support> known;
    private final Function<Feature, Support> probe;
    private final Set<Feature> without;

    private Features(Map<Feature, Support> known, Function<Feature, Support> probe, Set<Feature> without) {
        this.known = known;
        this.probe = probe;
        this.without = without;
    }

    /** The features of the running kernel: {@link #of(Host)} of {@link Host#running()}. */
    public static Features ofRunningKernel() {
        return of(Host.running());
    }

    /** Features with given answers: from a table of another kernel, or a test. */
    public static Features of(Function<Feature, Support> answers) {
        return new Features(new ConcurrentHashMap<>(), answers, EnumSet.noneOf(Feature.class));
    }

    /** The features of a machine's kernel, probed with this process's rights there; the same object each time. */
    public static Features of(Host host) {
        return host.known(Features.class, machine -> of(new Probes(machine)::probe));
    }

    /** The same kernel without these features. Both objects share the results of probes. */
    public Features without(Feature... features) {
        EnumSet<Feature> all = EnumSet.copyOf(without);
        all.addAll(Arrays.asList(features));
        return new Features(known, probe, all);
    }

    /** Whether the kernel has the feature, and the evidence. The first call for a feature probes the kernel. */
    public Support support(Feature feature) {
        if (without.contains(feature)) {
            return Support.no("taken away by the caller");
        }
        Support answer = known.get(feature);
        if (answer == null) {
            // Not computeIfAbsent: a probe may ask for another feature. Two threads may both probe, with the same
            // result.
            answer = probe.apply(feature);
            // Rights, mounts and free descriptors may change, so an unknown result is probed again.
            if (!(answer instanceof Support.Unknown)) {
                known.put(feature, answer);
            }
        }
        return answer;
    }

    /**
     * Whether the feature is certainly present. Not the opposite of {@link #lacks}: if the kernel could not be probed,
     * both are false. Use this if a wrong yes would cause an error that no later call reports.
     */
    public boolean has(Feature feature) {
        return support(feature) instanceof Support.Present;
    }

    /**
     * Whether the feature is certainly absent, or disabled. Use this to decide on a fallback: if the kernel could not
     * be probed, the normal method is used, and its call reports the error.
     */
    public boolean lacks(Feature feature) {
        return support(feature) instanceof Support.Absent;
    }

    /**
     * Requires a feature.
     *
     * @param what the operation that needs the feature, for the start of the message: {@code attach gc__begin in
     *     libjvm.so}
     * @throws UnsupportedFeatureException if the feature is absent
     * @throws SyscallException if the kernel could not be probed
     */
    public void require(Feature feature, String what) {
        switch (support(feature)) {
            case Support.Present _ -> {}
            case Support.Absent absent -> throw new UnsupportedFeatureException(what, feature, absent.reason());
            case Support.Unknown unknown -> throw unknown.failure(what);
        }
    }
}
