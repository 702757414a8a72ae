package io.bpf4j.loader.feature;

import io.bpf4j.insn.Helper;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The features of a kernel: those that bpf4j uses, types of programs and maps, attach types, helpers.
 * <i>Thread-safe.</i>
 *
 * <p>Each feature is probed on the first request, by trying it. A result of present or absent is kept; an unknown
 * result is probed again. {@link #without} disables features, to simulate a kernel that lacks them, or to force
 * another method.
 *
 * <pre>{@code
 * Features features = Features.ofRunningKernel();
 * features.has(MapType.ARENA);
 * features.has(AttachType.TCX_INGRESS);
 * features.has(ProgramType.XDP, Helper.named("bpf_fib_lookup"));
 * }</pre>
 */
public final class Features {
    private final Map<KernelFeature, Support> results;
    private final Function<KernelFeature, Support> probe;
    private final Set<KernelFeature> without;

    private Features(
            Map<KernelFeature, Support> results, Function<KernelFeature, Support> probe, Set<KernelFeature> without) {
        this.results = results;
        this.probe = probe;
        this.without = without;
    }

    /** The features of the running kernel: {@link #of(Host)} of {@link Host#running()}. */
    public static Features ofRunningKernel() {
        return of(Host.running());
    }

    /** Features with given results: from a table of another kernel, or a test. */
    public static Features of(Function<KernelFeature, Support> results) {
        return new Features(new ConcurrentHashMap<>(), results, Set.of());
    }

    /** The features of a machine's kernel, probed with this process's rights there; the same object each time. */
    public static Features of(Host host) {
        return host.known(Features.class, machine -> of(new Probes(machine)::probe));
    }

    /** The same kernel without these features. Both objects share the results of probes. */
    public Features without(KernelFeature... missing) {
        Set<KernelFeature> all = new HashSet<>(without);
        all.addAll(Arrays.asList(missing));
        return new Features(results, probe, all);
    }

    /**
     * Whether the kernel has the feature, and the evidence. The first call for a feature probes the kernel.
     *
     * @throws IllegalArgumentException for helpers of programs of type EXT and STRUCT_OPS, which depend on the target
     */
    public Support support(KernelFeature feature) {
        if (without.contains(feature)) {
            return new Support.Absent("disabled by the caller");
        }
        Support result = results.get(feature);
        if (result == null) {
            // Not computeIfAbsent: a probe may ask for another feature. Two threads may both probe, with the same
            // result.
            result = probe.apply(feature);
            // Rights, mounts and free descriptors may change, so an unknown result is probed again.
            if (!(result instanceof Support.Unknown)) {
                results.put(feature, result);
            }
        }
        return result;
    }

    /**
     * Whether the feature is certainly present. Not the opposite of {@link #lacks}: if the kernel could not be probed,
     * both are false. Use this if a wrong yes would cause an error that no later call reports.
     */
    public boolean has(KernelFeature feature) {
        return support(feature) instanceof Support.Present;
    }

    /** Whether programs of the type certainly may call the helper, with this process's rights. */
    public boolean has(ProgramType from, Helper helper) {
        return has(new KernelFeature.Call(from, helper));
    }

    /**
     * Whether the feature is certainly absent, or disabled. Use this to decide on a fallback: if the kernel could not
     * be probed, the normal method is used, and its call reports the error.
     */
    public boolean lacks(KernelFeature feature) {
        return support(feature) instanceof Support.Absent;
    }

    /**
     * Requires a feature.
     *
     * @param operation the operation that needs the feature, for the start of the message: {@code attach gc__begin in
     *     libjvm.so}
     * @throws UnsupportedFeatureException if the feature is absent
     * @throws SyscallException if the kernel could not be probed
     */
    public void require(Feature feature, String operation) {
        switch (support(feature)) {
            case Support.Present _ -> {}
            case Support.Absent absent -> throw new UnsupportedFeatureException(operation, feature, absent.reason());
            case Support.Unknown unknown -> throw unknown.failure(operation);
        }
    }
}
