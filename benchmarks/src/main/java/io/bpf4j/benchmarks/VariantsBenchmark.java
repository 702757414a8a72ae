package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Attach to what differs in something other than the number of sites: in the number of argument strings among 10,000
 * sites, and in the number of processes that run the program, whose memory the kernel changes. From the path. Needs root.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 40)
@Measurement(iterations = 17)
@Fork(1)
public class VariantsBenchmark {
    /** For the specs of a thousand argument strings, of two attachments. */
    private static final int SPECS = 2048;

    /** An object to attach, and the link. <i>Confined.</i> */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Detached {
        private BpfObject object;
        private UsdtLink link;

        @Setup
        public void load() {
            object = BpfLoader.of(ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT)))
                    .map("__bpf_usdt_specs", map -> map.withMaxEntries(SPECS))
                    .load();
        }

        @TearDown
        public void unload() {
            object.close();
        }

        void attach(Path target) throws IOException {
            link = Usdt.of(object)
                    .attach(
                            object.program(Loaded.PROGRAM),
                            UsdtScan.ofFile(target).matching("bench:site"));
        }

        @TearDown(Level.Invocation)
        public void close() {
            link.close();
        }
    }

    /** 10,000 sites. <i>Confined.</i> */
    public static class Strings extends Detached {
        /** Different argument strings among them. */
        @Param({"1", "10", "100", "1000"})
        public int strings;
    }

    /** A program with 1,000 sites that runs. <i>Confined.</i> */
    public static class Running extends Detached {
        private final List<Process> running = new ArrayList<>();

        /** How often it runs. */
        @Param({"0", "1", "4", "100"})
        public int processes;

        @Setup
        public void start() throws IOException {
            for (int i = 0; i < processes; i++) {
                Process process = new ProcessBuilder(Targets.running().toString()).start();
                running.add(process);
                // It writes a byte when it is up.
                if (process.getInputStream().read() < 0) {
                    throw new IllegalStateException("the program to attach to ended at once");
                }
            }
        }

        @TearDown
        public void stop() throws InterruptedException {
            for (Process process : running) {
                process.destroy();
                process.waitFor();
            }
        }
    }

    @Benchmark
    public void attachStrings(Strings state) throws IOException {
        state.attach(Targets.withStrings(state.strings));
    }

    @Benchmark
    public void attachRunning(Running state) throws IOException {
        state.attach(Targets.running());
    }
}
