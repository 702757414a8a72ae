package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtScan;
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

    /** The threads, and an object and a link of each. <b>Confined</b>. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Threads {
        private final List<BpfObject> objects = new ArrayList<>();
        private final List<Callable<UsdtLink>> attaches = new ArrayList<>();
        private final List<UsdtLink> links = new ArrayList<>();
        private ExecutorService pool;

        @Setup
        public void load() {
            Path target = Targets.withSites(100);
            ObjectSpec spec = ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT));
            for (int i = 0; i < THREADS; i++) {
                BpfObject object = BpfLoader.of(spec).load();
                objects.add(object);
                attaches.add(() -> Usdt.of(object)
                        .attach(
                                object.program(Loaded.PROGRAM),
                                UsdtScan.ofFile(target).matching("bench:site")));
            }
            pool = Executors.newFixedThreadPool(THREADS);
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

    /** Threads that attach to a program with one site again and again, each by an object of its own. <b>Confined</b>. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Small {
        @Param({"1", "2"})
        public int threads;

        private final List<BpfObject> objects = new ArrayList<>();
        private final List<Callable<List<UsdtLink>>> attaches = new ArrayList<>();
        private final List<UsdtLink> links = new ArrayList<>();
        private ExecutorService pool;

        @Setup
        public void load() {
            Path target = Targets.withSites(1);
            ObjectSpec spec = ObjectSpec.parse(Loaded.OBJECT, TestObjects.bytes(Loaded.OBJECT));
            for (int i = 0; i < threads; i++) {
                BpfObject object = BpfLoader.of(spec).load();
                objects.add(object);
                attaches.add(() -> {
                    List<UsdtLink> own = new ArrayList<>();
                    for (int n = 0; n < SMALL_ATTACHES; n++) {
                        own.add(Usdt.of(object)
                                .attach(
                                        object.program(Loaded.PROGRAM),
                                        UsdtScan.ofFile(target).matching("bench:site")));
                    }
                    return own;
                });
            }
            pool = Executors.newFixedThreadPool(threads);
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

    /** Objects that are loaded. <b>Confined</b>. */
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
        for (Future<UsdtLink> link : state.pool.invokeAll(state.attaches)) {
            state.links.add(link.get());
        }
    }

    @Benchmark
    public void attachSmall(Small state) throws InterruptedException, ExecutionException {
        for (Future<List<UsdtLink>> links : state.pool.invokeAll(state.attaches)) {
            state.links.addAll(links.get());
        }
    }

    @Benchmark
    public void load100Objects(Objects state) {
        for (int i = 0; i < OBJECTS; i++) {
            state.objects.add(BpfLoader.of(state.spec).load());
        }
    }
}
