package io.bpf4j.benchmarks;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * All probes of all libraries below /usr/lib, each file read from its path as {@code bpf4j list FILE…} does it. The files
 * are in the page cache.
 *
 * <p>Not by JMH: a shot takes a second, and would be repeated forty times to warm up. Takes the number of shots, makes a
 * third of them, and prints lines for {@link Yardstick}: the size is the number of libraries.
 */
final class LibrariesMain {
    private LibrariesMain() {}

    public static void main(String[] arguments) throws IOException {
        int shots = Math.ceilDiv(Integer.parseInt(arguments[0]), 3);
        List<Path> libraries;
        try (Stream<Path> files = Files.walk(Path.of("/usr/lib"))) {
            libraries = files.filter(file -> file.getFileName().toString().matches(".*\\.so[.0-9]*")
                            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
                    .toList();
        }
        double[] times = new double[shots];
        // The first fills the page cache.
        for (int shot = shots == 1 ? 0 : -1; shot < shots; shot++) {
            long start = System.nanoTime();
            List<UsdtProbe> probes = probes(libraries);
            if (probes.isEmpty()) {
                throw new IllegalStateException("no library below /usr/lib has a probe");
            }
            if (shot >= 0) {
                times[shot] = (System.nanoTime() - start) / 1e6;
            }
        }
        Yardstick.print("listLibraries", libraries.size() + " files", "ms", times);
    }

    private static List<UsdtProbe> probes(List<Path> libraries) throws IOException {
        List<UsdtProbe> probes = new ArrayList<>();
        for (Path library : libraries) {
            try {
                probes.addAll(UsdtScan.ofFile(library).probes());
            } catch (MalformedDataException e) {
                // A linker's script, for instance, has such a name too.
            }
        }
        return probes;
    }
}
