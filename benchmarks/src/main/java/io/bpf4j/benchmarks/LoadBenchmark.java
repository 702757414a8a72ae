package io.bpf4j.benchmarks;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
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
 * Reading an object from memory, and loading it: maps, relocation against the kernel's types, the verifier. Needs root.
 *
 * <p>Of a process that has loaded the object many times: the kernel's types are indexed, the code is compiled. What the
 * first load costs is in {@link FirstUseMain}. Timed shot by shot, since each load is undone outside of the time measured.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 200)
@Measurement(iterations = 17)
@Fork(1)
public class LoadBenchmark {
    /** An object in memory. <i>Confined.</i> */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class InMemory {
        /**
         * One with nothing but global variables; one with maps of six kinds; one with twelve programs that relocate
         * fields of the kernel's structs; and the program of {@code bpf4j trace}, which keeps the verifier busy.
         */
        @Param({"globals.bpf.o", "maps.bpf.o", "corpus/core_fields.bpf.o", "trace.bpf.o"})
        public String object;

        byte[] bytes;

        @Setup
        public void read() {
            bytes = TestObjects.bytes(object);
            WarmUp.with(1, () -> ObjectSpec.parse(object, bytes));
        }
    }

    /** An object that is read and loaded. <i>Confined.</i> */
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class First extends InMemory {
        BpfObject loaded;

        @TearDown(Level.Invocation)
        public void close() {
            loaded.close();
        }
    }

    /** An object that was read, and is loaded. <i>Confined.</i> */
    @SuppressWarnings("NullAway.Init") // JMH sets the fields
    public static class Loading extends First {
        ObjectSpec spec;

        @Setup
        public void parse() {
            byte[] read = TestObjects.bytes(object); // JMH may call this before read()
            spec = ObjectSpec.parse(object, read);
            WarmUp.with(
                    1, () -> BpfLoader.of(ObjectSpec.parse(object, read)).load().close());
        }
    }

    @Benchmark
    public ObjectSpec open(InMemory state) {
        return ObjectSpec.parse(state.object, state.bytes);
    }

    @Benchmark
    public void load(Loading state) {
        state.loaded = BpfLoader.of(state.spec).load();
    }
}
