package io.bpf4j.benchmarks;

import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.trace.expression.ValueType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Events with three numbers, of one thread, from the tracer's records to lines: what {@code bpf4j trace} does with each.
 * Times are those of one event. The command runs with the quick compiler alone, so both are measured. Needs no root.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class EventBenchmark {
    private static final int EVENTS = 1000;

    /** With room for four arguments, as bpf-objects/src/main/bpf/trace.h describes it. */
    private static final int RECORD = 80;

    /** How an event is written. */
    @Param({"text", "json"})
    private String form = "text";

    private final MemorySegment records = Arena.ofAuto().allocate((long) EVENTS * RECORD, 8);
    private final LineBuffer lines = new LineBuffer();
    private final ProbeEvent event = new ProbeEvent(List.of(), 256);
    private final TracedProbe probe = new TracedProbe(
            "/usr/bin/program", "provider", "name", List.of(ValueType.Int.S64, ValueType.Int.S64, ValueType.Int.U64));
    private EventFormat format = EventFormat.create(false, lines);

    /** Writes what a loop would fire. */
    public EventBenchmark() {
        for (int i = 0; i < EVENTS; i++) {
            MemorySegment record = records.asSlice((long) i * RECORD, RECORD);
            record.set(ValueLayout.JAVA_LONG, 0, 25_049_784_085_086L + i * 660L);
            record.set(ValueLayout.JAVA_LONG, 8, 1);
            record.set(ValueLayout.JAVA_INT, 16, 4711);
            record.set(ValueLayout.JAVA_INT, 20, 4712);
            record.setString(24, "program");
            record.set(ValueLayout.JAVA_SHORT, 40, (short) 3);
            record.set(ValueLayout.JAVA_LONG, 48, i);
            record.set(ValueLayout.JAVA_LONG, 56, i * 1_000_003L);
            record.set(ValueLayout.JAVA_LONG, 64, i & 0xff);
        }
    }

    @Setup
    public void choose() {
        format = EventFormat.create(form.equals("json"), lines);
    }

    @Benchmark
    @Fork(1)
    @OperationsPerInvocation(EVENTS)
    public int format() {
        return write();
    }

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = "-XX:TieredStopAtLevel=1")
    @OperationsPerInvocation(EVENTS)
    public int formatByQuickCompiler() {
        return write();
    }

    private int write() {
        lines.clear();
        for (int i = 0; i < EVENTS; i++) {
            event.moveTo(records, (long) i * RECORD, RECORD);
            format.write(event, probe);
        }
        return lines.size();
    }
}
