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
 * What a kernel can do, as far as bpf4j asks. <i>Thread-safe.</i>
 *
 * <p>Each feature is probed when first asked for, and a yes or no is kept; what could not be asked is asked again. {@link
 * #without} takes features away, to see how something works on a kernel that lacks them, or to force another way of doing
 * it.
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

    /** Those of the kernel that this process runs on: {@link #of(Host)} of {@link Host#running()}. */
    public static Features ofRunningKernel() {
        return of(Host.running());
    }

    /** Answers from elsewhere: a table of another kernel, or a test. */
    public static Features of(Function<Feature, Support> answers) {
        return new Features(new ConcurrentHashMap<>(), answers, EnumSet.noneOf(Feature.class));
    }

    /** Those of the kernel of a machine, asked with the rights that this process has there; the same object each time. */
    public static Features of(Host host) {
        return host.known(Features.class, machine -> of(new Probes(machine)::probe));
    }

    /** The same kernel with less. What was found out stays known to both. */
    public Features without(Feature... features) {
        EnumSet<Feature> all = EnumSet.copyOf(without);
        all.addAll(Arrays.asList(features));
        return new Features(known, probe, all);
    }

    /** Whether the feature is there, and how that shows. The first call for a feature asks the kernel. */
    public Support support(Feature feature) {
        if (without.contains(feature)) {
            return Support.no("taken away by the caller");
        }
        Support answer = known.get(feature);
        if (answer == null) {
            // Not computeIfAbsent: a probe may ask for another feature. Two threads may both probe; both find the same.
            answer = probe.apply(feature);
            // Rights may be given, files mounted and descriptors closed: what could not be asked is asked again.
            if (!(answer instanceof Support.Unknown)) {
                known.put(feature, answer);
            }
        }
        return answer;
    }

    /**
     * Whether the feature is there for certain. Not the opposite of {@link #lacks}: between the two is what could not be
     * asked. Ask this where a wrong yes would do harm that no later call reports.
     */
    public boolean has(Feature feature) {
        return support(feature) instanceof Support.Present;
    }

    /**
     * Whether the feature is missing for certain, or taken away. Ask this to decide on a detour around a feature: where
     * the kernel could not be asked, the straight way is taken, and the call that matters says what is wrong.
     */
    public boolean lacks(Feature feature) {
        return support(feature) instanceof Support.Absent;
    }

    /**
     * Insists on a feature.
     *
     * @param what what needs it, for the start of the message: {@code attach gc__begin in libjvm.so}
     * @throws UnsupportedFeatureException if it is not there
     * @throws SyscallException if the kernel could not be asked
     */
    public void require(Feature feature, String what) {
        switch (support(feature)) {
            case Support.Present _ -> {}
            case Support.Absent absent -> throw new UnsupportedFeatureException(what, feature, absent.reason());
            case Support.Unknown unknown -> throw unknown.failure(what);
        }
    }
}
