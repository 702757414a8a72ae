package io.bpf4j.benchmarks;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Codec.Length;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One record read from memory and written to it: five numbers of three sizes and a text of 16 bytes. Needs no root. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Thread)
public class CodecBenchmark {
    /** {@code struct event { u64 time_ns; u32 pid, tid; u64 bytes; u16 kind; char comm[16]; }}, for instance. */
    public record Event(
            long timeNs,
            int pid,
            int tid,
            long bytes,
            short kind,
            @Length(16) String comm) {}

    private static final Codec<Event> EVENTS = Codec.ofRecord(Event.class);
    private static final Codec<Long> LONGS = Codec.ofLong();

    private final MemorySegment memory = Arena.ofAuto().allocate(EVENTS.size(), 8);
    private final Event event = new Event(1_234_567_890L, 4711, 4712, 65_536, (short) 3, "postgres");

    /** Something to read before anything is written. */
    public CodecBenchmark() {
        EVENTS.encode(event, memory, 0);
    }

    @Benchmark
    public Event decodeRecord() {
        return EVENTS.decode(memory, 0);
    }

    @Benchmark
    public MemorySegment encodeRecord() {
        EVENTS.encode(event, memory, 0);
        return memory;
    }

    @Benchmark
    public Long decodeLong() {
        return LONGS.decode(memory, 0);
    }
}
