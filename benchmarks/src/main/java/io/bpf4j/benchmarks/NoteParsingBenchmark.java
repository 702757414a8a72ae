package io.bpf4j.benchmarks;

import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * From a path to all its sites with their arguments understood: open, map, headers, notes, argument strings. Needs no
 * root. The file is in the page cache.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class NoteParsingBenchmark {
    /** {@code libjvm.so}: the running JVM's, 566 sites in Temurin 25; else a generated program with that many sites. */
    @Param({"libjvm.so", "1000", "10000", "100000"})
    public String file;

    private Path path;

    @Setup
    public void findFile() {
        path = file.equals("libjvm.so") ? Targets.libjvm() : Targets.withSites(Integer.parseInt(file));
    }

    @Benchmark
    public List<UsdtProbe> parse() throws IOException {
        List<UsdtProbe> probes = UsdtScan.ofFile(path).probes();
        if (probes.isEmpty()) {
            throw new IllegalStateException(path + " has no probes: there is nothing to measure");
        }
        return probes;
    }
}
