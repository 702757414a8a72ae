package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The first attach and the first load of a JVM, nothing compiled yet: what a command that does so once waits for, class
 * loading included, and the probes for the kernel's features and the index of its types. A fork per shot.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Fork(5)
public class FirstUseBenchmark {
    /** With an object that is loaded already. */
    @Benchmark
    public void firstAttach(Loaded.Attaching state) throws IOException {
        state.link = state.attach();
    }

    /** From the bytes to an object in the kernel. */
    @Benchmark
    public void firstLoad(LoadBenchmark.First state) {
        state.loaded = BpfLoader.of(ObjectSpec.parse(state.object, state.bytes)).load();
    }
}
