package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * Records of 16 bytes that wait in a ring buffer, handed out by one poll; the program that wrote them ran before. Times
 * are those of one record. Needs root.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // JMH calls open() first
public class RingBenchmark {
    /** Of one run of the program, which also discards a third one. */
    private static final int RECORDS_OF_A_RUN = 2;

    private static final int RECORDS = 10_000;

    /** What the program writes. */
    public record Numbers(long first, long second) {}

    private static final Codec<Numbers> NUMBERS = Codec.ofRecord(Numbers.class);

    private BpfObject object;
    private RingBuffer ring;
    private long sum;

    @Setup
    public void open() {
        object = BpfLoader.of(ObjectSpec.parse("rings.bpf.o", TestObjects.bytes("corpus/rings.bpf.o")))
                .map("ring", map -> map.withMaxEntries(1 << 20))
                .load();
        ring = RingBuffer.open(object.map("ring"));
    }

    @Setup(Level.Invocation)
    public void write() {
        TestRun runs = TestRun.onData(new byte[64]).withRepeat(RECORDS / RECORDS_OF_A_RUN);
        if (object.program("ring_buffer").test(runs).returned() != 0) {
            throw new IllegalStateException("the ring is full, or the program found a fault");
        }
    }

    @TearDown
    public void close() {
        ring.close();
        object.close();
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long poll() {
        return checked(ring.poll(
                Duration.ZERO, (MemorySegment record) -> sum += record.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)));
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long pollRaw() {
        return checked(ring.poll(
                Duration.ZERO,
                (int _, MemorySegment data, long offset, int _) ->
                        sum += data.get(ValueLayout.JAVA_LONG_UNALIGNED, offset)));
    }

    @Benchmark
    @OperationsPerInvocation(RECORDS)
    public long pollTyped() {
        return checked(ring.poll(Duration.ZERO, NUMBERS, record -> sum += record.first()));
    }

    private long checked(int records) {
        if (records != RECORDS) {
            throw new IllegalStateException(records + " records, not " + RECORDS);
        }
        return sum;
    }
}
