package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * How the cost of attaching to one site falls while a JVM repeats it: the CPU time of the attaching thread, which leaves
 * out its waits for the kernel's grace periods, and the work of the compilers. Takes the number of rounds; prints the
 * shortest time and the median of ranges of rounds, in milliseconds.
 */
final class RoundsMain {
    private RoundsMain() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(arguments[0]);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Path target = Targets.withSites(1);
        double[] reading = new double[rounds];
        double[] all = new double[rounds];
        try (BpfObject object = BpfLoader.of(ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT)))
                .load()) {
            Program program = object.program(Loaded.PROGRAM);
            Usdt usdt = Usdt.of(object);
            for (int i = 0; i < rounds; i++) {
                long start = threads.getCurrentThreadCpuTime();
                UsdtScan scan = UsdtScan.ofFile(target).matching("bench:site");
                reading[i] = (threads.getCurrentThreadCpuTime() - start) / 1e6;
                UsdtLink link = usdt.attach(program, scan);
                all[i] = (threads.getCurrentThreadCpuTime() - start) / 1e6;
                link.close();
            }
        }
        System.out.println("rounds         attach         of which reading the file");
        for (int from = 0, to = 1; from < rounds; from = to, to *= 2) {
            int end = Math.min(to, rounds);
            System.out.printf(
                    "%-13s  %s  %s%n", from + 1 + " to " + end, range(all, from, end), range(reading, from, end));
        }
    }

    private static String range(double[] times, int from, int to) {
        double[] sorted = Arrays.copyOfRange(times, from, to);
        Arrays.sort(sorted);
        return String.format("%5.2f / %5.2f", sorted[0], sorted[sorted.length / 2]);
    }
}
