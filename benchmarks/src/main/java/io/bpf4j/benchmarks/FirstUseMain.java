package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the first load of an object and the first attach cost a JVM: class loading, the index of the kernel's types,
 * probes for its features, and interpreted code are in them. Without an AOT cache, and with one that a run before has
 * made of the same program.
 *
 * <p>Each shot is a JVM of its own. Takes the number of shots and makes a third of them; prints lines for
 * {@link Yardstick}.
 */
final class FirstUseMain {
    private static final List<String> OBJECTS =
            List.of("globals.bpf.o", "maps.bpf.o", "corpus/core_fields.bpf.o", "trace.bpf.o");

    /** What stands before an object's name if a JVM is to make a shot. */
    private static final String SHOT = "shot";

    private FirstUseMain() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments[0].equals(SHOT)) {
            shoot(arguments[1]);
            return;
        }
        int shots = Math.ceilDiv(Integer.parseInt(arguments[0]), 3);
        // One object shows that it runs, and the last one does all.
        for (String object : arguments[0].equals("1") ? List.<String>of() : OBJECTS) {
            measure(object, shots);
        }
        measure(Loaded.OBJECT, shots);
    }

    private static void measure(String object, int shots) throws IOException, InterruptedException {
        Path cache = Files.createTempFile("bpf4j", ".aot");
        try {
            makeCache(object, cache);
            shoot(object, "", "-XX:AOTMode=off", shots);
            shoot(object, "Cached", "-XX:AOTCache=" + cache, shots);
        } finally {
            Files.delete(cache);
        }
    }

    /** The run that makes the cache says so on standard output. */
    private static void makeCache(String object, Path cache) throws IOException, InterruptedException {
        List<String> command = jvm(object, "-XX:AOTCacheOutput=" + cache);
        Process process = new ProcessBuilder(command)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
        if (process.waitFor() != 0 || Files.size(cache) == 0) {
            throw new IOException(String.join(" ", command) + " made no cache");
        }
    }

    /** Starts a JVM for each shot, and prints what they measure. */
    private static void shoot(String object, String suffix, String option, int shots)
            throws IOException, InterruptedException {
        List<Double> loads = new ArrayList<>();
        List<Double> attaches = new ArrayList<>();
        for (int shot = 0; shot < shots; shot++) {
            new Yardstick(jvm(object, option))
                    .measure((_, work, _, _, ms) -> (work.equals("load") ? loads : attaches).add(ms[0]));
        }
        Yardstick.print("firstLoad" + suffix, object, "ms", figures(loads));
        if (!attaches.isEmpty()) {
            Yardstick.print("firstAttach" + suffix, "", "ms", figures(attaches));
        }
    }

    private static List<String> jvm(String object, String option) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add(option);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), FirstUseMain.class.getName()));
        command.addAll(List.of(SHOT, object));
        return command;
    }

    private static double[] figures(List<Double> list) {
        return list.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** The object that is for probes is attached, too: to one with a single site. */
    private static void shoot(String name) throws IOException {
        byte[] bytes = TestObjects.bytes(name);
        long start = System.nanoTime();
        try (BpfObject object = BpfLoader.of(ObjectSpec.parse(name, bytes)).load()) {
            print("load", start);
            if (name.equals(Loaded.OBJECT)) {
                Path target = Targets.withSites(1);
                start = System.nanoTime();
                UsdtLink link = Usdt.of(object)
                        .attach(
                                object.program(Loaded.PROGRAM),
                                UsdtScan.ofFile(target).matching("bench:site"));
                print("attach", start);
                link.close();
            }
        }
    }

    private static void print(String work, long start) {
        Yardstick.print(work, "", "ms", (System.nanoTime() - start) / 1e6);
    }
}
