package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.List;

/**
 * Attach and detach by a perf uprobe for each site, as kernels before 6.6 need it: with cookies, and with the map of
 * addresses that kernels without cookies need. The probes were found before.
 *
 * <p>Not by JMH: the kernel takes a tenth of a second to detach a site, so there are few shots, and the more sites the
 * fewer. Takes the number of shots, makes a third of them, and prints lines for {@link Yardstick}.
 */
final class SinglesMain {
    private SinglesMain() {}

    public static void main(String[] arguments) throws IOException {
        int shots = Math.ceilDiv(Integer.parseInt(arguments[0]), 3);
        Features all = Features.ofRunningKernel();
        measure("Cookie", AttachStrategy.COOKIE, all.without(Feature.UPROBE_MULTI_LINK), shots);
        measure("IpMap", AttachStrategy.IP_MAP, all.without(Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE), shots);
    }

    private static void measure(String name, AttachStrategy strategy, Features features, int shots) throws IOException {
        try (BpfObject object = BpfLoader.of(ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT)))
                .features(features)
                .map("__bpf_usdt_ip_to_spec_id", map -> map.withMaxEntries(2000))
                .load()) {
            // As ./measure beside the C harness: one shot shows that it runs, and a thousand sites take two minutes.
            measure(name, strategy, object, 10, shots);
            if (shots >= 3) {
                measure(name, strategy, object, 100, shots / 3);
            }
            if (shots >= 6) {
                measure(name, strategy, object, 1000, 1);
            }
        }
    }

    private static void measure(String name, AttachStrategy strategy, BpfObject object, int sites, int shots)
            throws IOException {
        List<UsdtProbe> probes = UsdtScan.ofFile(Targets.withSites(sites)).probes();
        double[] attach = new double[shots];
        double[] detach = new double[shots];
        for (int shot = 0; shot < shots; shot++) {
            long start = System.nanoTime();
            UsdtLink link = Usdt.of(object).attach(object.program(Loaded.PROGRAM), probes);
            long attached = System.nanoTime();
            if (link.strategy() != strategy) {
                throw new IllegalStateException("attached by " + link.strategy() + ", not by " + strategy);
            }
            link.close();
            attach[shot] = (attached - start) / 1e6;
            detach[shot] = (System.nanoTime() - attached) / 1e6;
        }
        Yardstick.print("attachBy" + name, Integer.toString(sites), "ms", attach);
        Yardstick.print("detachBy" + name, Integer.toString(sites), "ms", detach);
    }
}
