package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory of a JVM that embeds bpf4j: when it has started, has loaded an object, has attached it to 10,000 sites, has
 * closed the link, and has attached and closed some thousand times more. Resident memory of the process, and what is in
 * use of the heap after a collection. MiB.
 *
 * <p>The rounds are made by 16 threads, because each waits for grace periods of the kernel, which threads share. Takes the
 * number of shots, which says how many rounds: 100, 2,000 or 10,000. Prints lines for {@link Yardstick}.
 */
final class MemoryMain {
    private static final int SITES = 10_000;
    private static final int THREADS = 16;

    private MemoryMain() {}

    public static void main(String[] arguments) throws IOException, InterruptedException, ExecutionException {
        int shots = Integer.parseInt(arguments[0]);
        int rounds = shots == 1 ? 100 : shots <= RunLength.QUICK.shots ? 2000 : 10_000;
        print("1 started");
        try (BpfObject object = BpfLoader.of(ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT)))
                .load()) {
            print("2 loaded");
            try (UsdtLink link = attach(object, SITES)) {
                if (link.siteCount() != SITES) {
                    throw new IllegalStateException(link.siteCount() + " sites attached, not " + SITES);
                }
                print("3 10,000 sites");
            }
            print("4 detached");
            attachAndClose(object, rounds);
            print(String.format(Locale.ROOT, "5 %,d rounds", rounds));
        }
    }

    private static UsdtLink attach(BpfObject object, int sites) throws IOException {
        return Usdt.of(object)
                .attach(
                        object.program(Loaded.PROGRAM),
                        UsdtScan.ofFile(Targets.withSites(sites)).matching("bench:site"));
    }

    private static void attachAndClose(BpfObject object, int rounds) throws InterruptedException, ExecutionException {
        AtomicInteger left = new AtomicInteger(rounds);
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < THREADS; i++) {
                all.add(pool.submit(() -> {
                    while (left.getAndDecrement() > 0) {
                        attach(object, 10).close();
                    }
                    return null;
                }));
            }
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    private static void print(String when) throws IOException {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        // "VmRSS:     12345 kB"
        String resident = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .findFirst()
                .orElseThrow();
        double kib = Double.parseDouble(resident.replaceAll("[^0-9]", ""));
        Yardstick.print("residentMemory", when, "MiB", kib / 1024);
        Yardstick.print("heapAfterCollection", when, "MiB", heap / 1024.0 / 1024);
    }
}
