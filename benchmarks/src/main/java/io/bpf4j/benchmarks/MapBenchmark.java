package io.bpf4j.benchmarks;

import io.bpf4j.loader.Maps;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Elements of a hash map with 10,000 of them, keys and values of 8 bytes: one by one, typed and in the caller's memory,
 * and all of them in batches. Times are those of one element. Needs root.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class MapBenchmark {
    private static final int ENTRIES = 10_000;

    private final Map<Long, Long> elements = new HashMap<>();
    private final MemorySegment key = Arena.ofAuto().allocate(8, 8);
    private final MemorySegment value = Arena.ofAuto().allocate(8, 8);
    private BpfMap map;
    private TypedMap<Long, Long> typed;
    private long next;

    @Setup
    public void fill() {
        map = Maps.create(MapSpec.of("bench", MapType.HASH, 8, 8, ENTRIES));
        typed = TypedMap.of(map, Codec.ofLong(), Codec.ofLong());
        for (long i = 0; i < ENTRIES; i++) {
            elements.put(i, 3 * i);
        }
        typed.putAll(elements);
    }

    @TearDown
    public void close() {
        map.close();
    }

    private long nextKey() {
        next = (next + 1) % ENTRIES;
        return next;
    }

    @Benchmark
    public Optional<Long> lookup() {
        return typed.get(nextKey());
    }

    @Benchmark
    public long lookupInPlace() {
        key.set(ValueLayout.JAVA_LONG, 0, nextKey());
        map.lookup(key, value);
        return value.get(ValueLayout.JAVA_LONG, 0);
    }

    @Benchmark
    public void update() {
        typed.put(nextKey(), next);
    }

    @Benchmark
    public void updateInPlace() {
        key.set(ValueLayout.JAVA_LONG, 0, nextKey());
        map.update(key, value, UpdateMode.ANY);
    }

    @Benchmark
    @OperationsPerInvocation(ENTRIES)
    public Map<Long, Long> lookupBatched() {
        return typed.toMap();
    }

    @Benchmark
    @OperationsPerInvocation(ENTRIES)
    public void updateBatched() {
        typed.putAll(elements);
    }
}
