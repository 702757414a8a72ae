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
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
 * Many at once: 64 threads that attach to a program with 100 sites, each by an object of its own, until the last has done
 * so; small attaches, one after the other in one thread or two; and 100 small objects, loaded one after the other and
 * kept. Needs root.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 40)
@Measurement(iterations = 17)
@Fork(1)
public class ConcurrentBenchmark {
    private static final int THREADS = 64;
    private static final int OBJECTS = 100;

    /** Attaches of each thread in a shot of {@link #attachSmall}. */
    static final int SMALL_ATTACHES = 16;

    /** Threads that attach, each by an object of its own. <i>Confined.</i> */
    @SuppressWarnings("NullAway.Init") // a setup sets the fields
    public abstract static class Attaching {
        private final List<BpfObject> objects = new ArrayList<>();
        private final List<Callable<List<UsdtLink>>> attaches = new ArrayList<>();
        private final List<UsdtLink> links = new ArrayList<>();
        private ExecutorService pool;

        /** Loads the objects, each of which will attach so many times to a program with so many sites. */
        void load(int threads, int times, int sites) {
            Path target = Targets.withSites(sites);
            ObjectSpec spec = ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT));
            for (int i = 0; i < threads; i++) {
                BpfObject object = BpfLoader.of(spec).load();
                objects.add(object);
                attaches.add(() -> attach(object, target, times));
            }
            pool = Executors.newFixedThreadPool(threads);
        }

        private static List<UsdtLink> attach(BpfObject object, Path target, int times) throws IOException {
            List<UsdtLink> own = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                own.add(Usdt.of(object)
                        .attach(
                                object.program(Loaded.PROGRAM),
                                UsdtScan.ofFile(target).matching("bench:site")));
            }
            return own;
        }

        void attachAll() throws InterruptedException, ExecutionException {
            for (Future<List<UsdtLink>> own : pool.invokeAll(attaches)) {
                links.addAll(own.get());
            }
        }

        @TearDown(Level.Invocation)
        public void detach() {
            links.forEach(UsdtLink::closeAsync);
            links.forEach(UsdtLink::close); // waits for the former
            links.clear();
        }

        @TearDown
        public void unload() {
            pool.shutdown();
            objects.forEach(BpfObject::close);
        }
    }

    /** 64 threads, which attach to 100 sites once. <i>Confined.</i> */
    @State(Scope.Thread)
    public static class Threads extends Attaching {
        @Setup
        public void load() {
            load(THREADS, 1, 100);
        }
    }

    /** Threads that attach to one site again and again. <i>Confined.</i> */
    @State(Scope.Thread)
    public static class Small extends Attaching {
        @Param({"1", "2"})
        public int threads;

        @Setup
        public void load() {
            load(threads, SMALL_ATTACHES, 1);
        }
    }

    /** Objects that are loaded. <i>Confined.</i> */
    @State(Scope.Thread)
    public static class Objects {
        private static final String SMALL = "globals.bpf.o";

        private final ObjectSpec spec = ObjectSpec.parse(SMALL, TestObjects.bytes(SMALL));
        private final List<BpfObject> objects = new ArrayList<>();

        @Setup
        public void warmUp() {
            WarmUp.with(1, () -> BpfLoader.of(spec).load().close());
        }

        @TearDown(Level.Invocation)
        public void close() {
            objects.forEach(BpfObject::close);
            objects.clear();
        }
    }

    @Benchmark
    public void attach64Threads(Threads state) throws InterruptedException, ExecutionException {
        state.attachAll();
    }

    @Benchmark
    public void attachSmall(Small state) throws InterruptedException, ExecutionException {
        state.attachAll();
    }

    @Benchmark
    public void load100Objects(Objects state) {
        for (int i = 0; i < OBJECTS; i++) {
            state.objects.add(BpfLoader.of(state.spec).load());
        }
    }
}
