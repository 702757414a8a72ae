package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * 500 probes of one program, each with 4 sites: attached by one link, as bpf4j can, and by a link for each probe, as
 * with libbpf; and closed. From the path: each shot reads the file. Needs root.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 40)
@Measurement(iterations = 17)
@Fork(1)
public class ManyProbesBenchmark {
    private static final int PROBES = 500;
    private static final int SITES_EACH = 4;

    /** The program, and an object to attach to it. <i>Confined.</i> */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Probes {
        private BpfObject object;
        private Program program;
        private Usdt usdt;
        private Path target;
        LinkGroup links;

        @Setup
        public void load() {
            target = Targets.withProbes(PROBES, SITES_EACH);
            object = BpfLoader.of(ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT)))
                    .load();
            program = object.program(Loaded.PROGRAM);
            usdt = Usdt.of(object);
        }

        @TearDown
        public void unload() {
            object.close();
        }

        void attachTogether() throws IOException {
            links = LinkGroup.inParallel("500 probes");
            UsdtLink link = usdt.attach(program, UsdtScan.ofFile(target).matching("bench:*"));
            links.add(link);
            check(link.siteCount());
        }

        void attachOneByOne() throws IOException {
            links = LinkGroup.inParallel("500 probes");
            int sites = 0;
            for (UsdtProbe probe : UsdtScan.ofFile(target).matching("bench:*").probes()) {
                UsdtLink link = usdt.attach(program, List.of(probe));
                links.add(link);
                sites += link.siteCount();
            }
            check(sites);
        }

        private static void check(int sites) {
            if (sites != PROBES * SITES_EACH) {
                throw new IllegalStateException(sites + " sites attached, not " + PROBES * SITES_EACH);
            }
        }
    }

    /** For what attaches. */
    public static class Detached extends Probes {
        @TearDown(Level.Invocation)
        public void close() {
            links.close();
        }
    }

    /** For what closes the one link. */
    public static class Together extends Probes {
        @Setup(Level.Invocation)
        public void attachBefore() throws IOException {
            attachTogether();
        }
    }

    /** For what closes the link of each probe. */
    public static class OneByOne extends Probes {
        @Setup(Level.Invocation)
        public void attachBefore() throws IOException {
            attachOneByOne();
        }
    }

    @Benchmark
    public void attach500Together(Detached state) throws IOException {
        state.attachTogether();
    }

    @Benchmark
    public void attach500(Detached state) throws IOException {
        state.attachOneByOne();
    }

    @Benchmark
    public void detach500Together(Together state) {
        state.links.close();
    }

    /** The links close in parallel, in one grace period of the kernel. */
    @Benchmark
    public void detach500(OneByOne state) {
        state.links.close();
    }
}
