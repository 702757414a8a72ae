package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
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
 * All probes of a real program by one link, attached and closed: {@code libjvm.so} in a JVM that runs, and PostgreSQL,
 * whose probes have semaphores. Needs root.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 40)
@Measurement(iterations = 17)
@Fork(1)
public class WholeProgramBenchmark {
    /** All probes of one program, found before, and an object to attach to them. <i>Confined.</i> */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Probes {
        /** {@code libjvm.so} or {@code postgres}; {@link Main} leaves out what is not installed. */
        @Param({"libjvm.so", "postgres"})
        public String program;

        private Process jvm;
        private BpfObject object;
        private List<UsdtProbe> probes;
        private AttachOptions options;
        UsdtLink link;

        @Setup
        public void start() throws IOException {
            object = BpfLoader.of(ObjectSpec.parse("counters.bpf.o", TestObjects.bytes("counters.bpf.o")))
                    .load();
            jvm = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            IdleMain.class.getName())
                    .start();
            // It answers when it is up.
            if (jvm.getInputStream().read() < 0) {
                throw new IllegalStateException("the JVM to attach to ended at once");
            }
            if (program.equals("postgres")) {
                probes = UsdtScan.ofFile(Targets.postgres().orElseThrow()).probes();
                options = AttachOptions.defaults();
            } else {
                probes = UsdtScan.ofProcess((int) jvm.pid())
                        .matching("hotspot*:*")
                        .probes();
                options = AttachOptions.defaults().withPid((int) jvm.pid());
            }
        }

        @TearDown
        public void stop() throws InterruptedException {
            object.close();
            jvm.destroy();
            jvm.waitFor();
        }

        void attach() {
            link = Usdt.of(object).attach(object.program("count"), probes, options);
        }
    }

    /** For what attaches. */
    public static class Detached extends Probes {
        @TearDown(Level.Invocation)
        public void close() {
            link.close();
        }
    }

    /** For what closes. */
    public static class Attached extends Probes {
        @Setup(Level.Invocation)
        public void attachBefore() {
            attach();
        }
    }

    @Benchmark
    public void attachWhole(Detached state) {
        state.attach();
    }

    @Benchmark
    public void closeWhole(Attached state) {
        state.link.close();
    }
}
