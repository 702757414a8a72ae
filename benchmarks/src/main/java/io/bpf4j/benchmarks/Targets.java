package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** The files that benchmarks look into and attach to. The C harness uses the same ones. <i>Immutable.</i> */
final class Targets {
    /** What {@code benchmarks/libbpf/Makefile} writes; relative to the root of the checkout unless set. */
    private static final Path FOLDER =
            Path.of(System.getProperty("bpf4j.benchmarks.targets", "benchmarks/target/libbpf"));

    private Targets() {}

    /** A program with that many sites of {@code bench:site}, with 20 argument strings among them. */
    static Path withSites(int sites) {
        return made("sites-" + sites);
    }

    /** A program with probes of {@code bench}, each with some sites, and with 20 argument strings among them. */
    static Path withProbes(int probes, int sitesEach) {
        return made("probes-" + probes + "x" + sitesEach);
    }

    /** A program with 10,000 sites of {@code bench:site}, with that many argument strings among them. */
    static Path withStrings(int strings) {
        return made("strings-" + strings);
    }

    /** A program with 1,000 sites of {@code bench:site} that writes a byte and runs until its standard input ends. */
    static Path running() {
        return made("running");
    }

    /** The program that makes a loaded program fire. */
    static Path fire() {
        return made("fire");
    }

    private static Path made(String name) {
        Path target = FOLDER.resolve(name);
        if (!Files.exists(target)) {
            throw new IllegalStateException(target + " is missing: make -C benchmarks/libbpf targets");
        }
        return target.toAbsolutePath();
    }

    /** The JVM that runs the benchmark: the largest real set of probes on most machines. */
    static Path libjvm() {
        return Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
    }

    /** PostgreSQL's server, newest first, where Debian puts it. */
    static Optional<Path> postgres() {
        try (Stream<Path> versions = Files.list(Path.of("/usr/lib/postgresql"))) {
            return versions.map(version -> version.resolve("bin/postgres"))
                    .filter(Files::isExecutable)
                    .max(Comparator.naturalOrder());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
