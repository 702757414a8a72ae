package io.bpf4j.benchmarks;

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
 * Attach and detach of a USDT probe with 1 to 10,000 sites and 20 argument strings: one uprobe_multi link. Needs root.
 *
 * <p>Timed shot by shot, since either direction needs the other outside of the time measured. Most of a short attach,
 * and of every detach, is the kernel waiting for grace periods; the shortest time shows what is left without that.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 100)
@Measurement(iterations = 17)
@Fork(1)
public class AttachBenchmark {
    @Benchmark
    public void attach(Loaded.Attaching state) throws IOException {
        state.link = state.attach();
    }

    /** What is left of an attach when the probes were found before, as for a second program on the same probes. */
    @Benchmark
    public void attachFound(Loaded.Found state) {
        state.link = state.attachFound();
    }

    @Benchmark
    public void detach(Loaded.Attached state) {
        state.link.close();
    }
}
