package io.bpf4j.test.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Short ways to what integration tests do all the time with BPF objects. */
public final class Bpf {
    private static final long PATIENCE_NANOS = Patience.scaled(60_000_000_000L);

    private Bpf() {}

    /** Something that programs may run at. */
    @FunctionalInterface
    public interface Event {
        void happen() throws IOException, InterruptedException;
    }

    /** Loads one of the objects of {@link TestObjects}. */
    public static BpfObject load(String name) {
        return load(name, UnaryOperator.identity());
    }

    /** Loads one of the objects of {@link TestObjects}, configured. */
    public static BpfObject load(String name, UnaryOperator<BpfLoader> configuration) {
        return configuration.apply(BpfLoader.of(spec(name))).load();
    }

    /** Loads one of the objects of {@link TestObjects} with these of the programs that are loaded on request only. */
    public static BpfObject load(String name, String... programs) {
        return load(name, loader -> {
            for (String program : programs) {
                loader.program(program, p -> p.withAutoload(true));
            }
            return loader;
        });
    }

    public static ObjectSpec spec(String name) {
        return ObjectSpec.parse(name, TestObjects.bytes(name));
    }

    /**
     * Makes the programs of one of our objects look at one process only.
     *
     * @param pid its number as this process knows it; 0 for all processes
     */
    public static BpfLoader only(BpfLoader loader, int pid) {
        return loader.global("target_tgid", pid);
    }

    /** A global variable of 8 bytes. */
    public static long u64(BpfObject object, String global) {
        return global(object, global).getLong();
    }

    /** A global variable of 4 bytes. */
    public static int u32(BpfObject object, String global) {
        return global(object, global).getInt();
    }

    /**
     * Makes an event happen until a counter of a program does not move. A link that was closed may be attached a moment
     * longer: whoever looks at all links of the machine, or at the descriptors of this process, holds it meanwhile. And
     * the program may still be at work on an earlier event, on another CPU.
     */
    public static void awaitNotCounted(BpfObject object, String counter, Event event)
            throws IOException, InterruptedException {
        Await.until("an event that " + counter + " does not count", () -> {
            long before = u64(object, counter);
            event.happen();
            return u64(object, counter) == before;
        });
    }

    /**
     * Makes events happen, again and again, until the program has counted so many of them at one time, and never more.
     * At kprobes, tracepoints and perf events the kernel leaves programs out while the CPU is in the middle of a map's
     * update, {@code bpf_prog_active} in its sources: of another thread's, which the event has preempted.
     */
    public static void awaitCounted(BpfObject object, String counter, long expected, Event events)
            throws IOException, InterruptedException {
        Await.until(
                expected + " events that " + counter + " counts",
                () -> {
                    long before = u64(object, counter);
                    events.happen();
                    long counted = u64(object, counter) - before;
                    assertThat(counted).as(counter).isLessThanOrEqualTo(expected);
                    return counted;
                },
                counted -> counted == expected);
    }

    /**
     * Attaches a program to what a link was attached to until it was closed: as soon as nobody else, either, holds that
     * link, as {@link #awaitNotCounted} describes it.
     */
    public static Link attachAgain(Program program, AttachTarget target) throws IOException, InterruptedException {
        return Await.until(
                        program.name() + " attached again",
                        () -> {
                            try {
                                return Optional.of(program.attach(target));
                            } catch (AttachException e) {
                                if (e.getCause() instanceof SyscallException refused
                                        && refused.errno() == Errno.EEXIST) {
                                    return Optional.<Link>empty();
                                }
                                throw e;
                            }
                        },
                        Optional::isPresent)
                .orElseThrow();
    }

    /** The bytes of a global variable. */
    public static ByteBuffer global(BpfObject object, String global) {
        return buffer(object.global(global).bytes());
    }

    /** The value at an index of an array map. */
    public static ByteBuffer element(BpfMap map, int index) {
        return buffer(map.lookup(key(index))
                .orElseThrow(() -> new AssertionError("map " + map.name() + " has no element " + index)));
    }

    /** A key of 4 bytes. */
    public static byte[] key(int index) {
        return bytes(4).putInt(index).array();
    }

    /** A buffer of so many bytes, in the order of this machine. */
    public static ByteBuffer bytes(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    public static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    /** Reads until so many records have come; fails if they don't. More than that may be returned. */
    public static List<ByteBuffer> records(RingBuffer ring, int atLeast) {
        List<ByteBuffer> records = new ArrayList<>();
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (records.size() < atLeast) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("only " + records.size() + " of " + atLeast + " records came");
            }
            ring.poll(Duration.ofMillis(100), record -> records.add(buffer(record.toArray(ValueLayout.JAVA_BYTE))));
        }
        return records;
    }

    /** What is in the ring now, without waiting. */
    public static List<ByteBuffer> recordsNow(RingBuffer ring) {
        List<ByteBuffer> records = new ArrayList<>();
        ring.consume(record -> records.add(buffer(record.toArray(ValueLayout.JAVA_BYTE))));
        return records;
    }
}
