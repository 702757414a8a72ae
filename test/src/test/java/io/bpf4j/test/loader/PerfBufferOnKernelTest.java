package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.insn.Assembler.R4;
import static io.bpf4j.insn.Assembler.R5;
import static io.bpf4j.insn.Assembler.R6;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.PerfBuffer;
import io.bpf4j.loader.ring.PerfBuffer.Options;
import io.bpf4j.loader.ring.RecordHandler;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.PinnedThread;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(900) // against a hang: one test takes some seconds on an idle machine
class PerfBufferOnKernelTest {
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);
    /** Longer than a test may take: one that misses a wake-up fails. */
    private static final Duration LONG = Duration.ofHours(1);

    private static final int PERF_EVENT_OUTPUT = 25;
    private static final int GET_SMP_PROCESSOR_ID = 8;

    /** A header of 8 bytes, a size of 4, 20 bytes of data, which needs no padding. */
    private static final int SPACE = 32;

    /** Of an {@link Event}; a record is aligned to 4 bytes. */
    private static final ValueLayout.OfInt COUNT = ValueLayout.JAVA_INT;

    /** 20 bytes, so that nothing is padded. */
    record Event(int count, int mark, int cpu, int more, int andMore) {}

    private KernelMap map;
    private KernelMap counter;
    private Fd program;

    @BeforeEach
    void load() {
        Kernel kernel = Kernel.of(Host.running());
        int cpus = CpuSet.possible(Host.running()).count();
        map = KernelMap.create(
                Host.running(),
                MapCommand.Create.of(MapType.PERF_EVENT_ARRAY.number(), "events", 4, 4, cpus),
                "events");
        counter = KernelMap.create(Host.running(), MapCommand.Create.of(MapType.ARRAY.number(), "n", 4, 8, 1), "n");
        byte[] code = Instructions.encode(
                Assembler.create()
                        .movReg(R6, R1)
                        .loadMapValue(R1, counter.fd().number(), 0)
                        .ldx(8, R2, R1, 0)
                        .stx(4, R10, -20, R2)
                        .alu(Opcodes.ADD, R2, 1)
                        .stx(8, R1, 0, R2)
                        .st(4, R10, -16, 7)
                        .st(4, R10, -8, 0)
                        .st(4, R10, -4, 0)
                        .call(GET_SMP_PROCESSOR_ID)
                        .stx(4, R10, -12, R0)
                        .movReg(R1, R6)
                        .loadMapFd(R2, map.fd().number())
                        .loadImm64(R3, 0xffffffffL) // BPF_F_CURRENT_CPU
                        .movReg(R4, R10)
                        .alu(Opcodes.ADD, R4, -20)
                        .mov(R5, 20)
                        .call(PERF_EVENT_OUTPUT)
                        .exit()
                        .assemble(),
                ByteOrder.nativeOrder());
        ProgCommand.Load load = ProgCommand.Load.of(ProgramType.SOCKET_FILTER.number(), "output", code, "GPL")
                .withInstructionFds(List.of(map.fd(), counter.fd()))
                .withLog(new ProgCommand.Log(1, 1 << 16));
        program = switch (kernel.execute(load)) {
            case LoadResult.Loaded loaded -> loaded.fd();
            case LoadResult.Refused refused -> throw new AssertionError(refused.log());
        };
    }

    @AfterEach
    void close() {
        program.close();
        counter.close();
        map.close();
    }

    /** Gives what the last run returned: 0, or a negative error number. */
    private int emit(int count) {
        return Kernel.of(Host.running())
                .execute(new ProgCommand.TestRun(program, new byte[14], 0, new byte[0], 0, count, 0, 0, 0))
                .returned();
    }

    @Test
    void recordsArriveOnceAndInOrderOfTheirCpuWhileTheProducerRuns() throws Exception {
        int wanted = 300_000;
        int pages = 64;
        try (PerfBuffer perf = PerfBuffer.open(map, Options.defaults().withPages(pages))) {
            assertThat(perf.cpus()).isEqualTo(CpuSet.online(Host.running()).count());
            CompletableFuture<Void> producer = CompletableFuture.runAsync(
                            () -> {
                                for (int sent = 0; sent < wanted; sent += 500) {
                                    // Never more than fits: what is measured is order, not loss.
                                    while (perf.pendingBytes() > pages * 4096L - 1000 * SPACE) {
                                        Thread.onSpinWait();
                                    }
                                    assertThat(emit(500)).isZero();
                                }
                            },
                            THREADS)
                    .whenComplete((_, _) -> perf.wakeup());
            Set<Integer> seen = new HashSet<>();
            int[] last = new int[CpuSet.possible(Host.running()).count()];
            Arrays.fill(last, -1);
            while (seen.size() < wanted) {
                if (producer.isCompletedExceptionally()) {
                    producer.get();
                }
                perf.poll(LONG, Codec.ofRecord(Event.class), event -> {
                    assertThat(seen.add(event.count())).as("%s twice", event).isTrue();
                    assertThat(event.mark()).isEqualTo(7);
                    assertThat(event.count()).as("order of CPU %d", event.cpu()).isGreaterThan(last[event.cpu()]);
                    last[event.cpu()] = event.count();
                });
            }
            producer.get();
            assertThat(perf.stats().records()).isEqualTo(wanted);
            assertThat(perf.stats().bytes()).isEqualTo(20L * wanted);
            assertThat(perf.stats().lost()).isZero();
            assertThat(perf.pendingBytes()).isZero();
        }
    }

    @Test
    void theCpuComesWithTheRecord() {
        try (PerfBuffer perf = PerfBuffer.open(map)) {
            emit(10);
            List<Integer> cpus = new ArrayList<>();
            perf.poll(LONG, (cpu, data, offset, size) -> {
                assertThat(data.get(ValueLayout.JAVA_INT, offset + 8)).isEqualTo(cpu);
                assertThat(size).isEqualTo(20);
                cpus.add(cpu);
            });
            assertThat(cpus).hasSize(10);
        }
    }

    @Test
    void whatFindsNoRoomIsCountedAndDelivered() {
        List<String> told = new ArrayList<>();
        long[] lost = {0};
        Options options = Options.defaults().withPages(1).withLostHandler((cpu, count) -> {
            told.add("CPU " + cpu);
            lost[0] += count;
        });
        try (PerfBuffer perf = PerfBuffer.open(map, options)) {
            int sent = 0;
            int[] cpus = PinnedThread.allowed();
            for (int cpu : cpus) {
                try (PinnedThread _ = PinnedThread.to(cpu)) {
                    for (int i = 0; i < 10; i++) {
                        sent += emit(perf, 1000);
                    }
                    // The kernel tells of a loss with the next record that fits on the same CPU.
                    sent += emit(perf, 1);
                }
            }
            assertThat(perf.stats().records() + perf.stats().lost()).isEqualTo(sent);
            assertThat(perf.stats().lost()).isGreaterThan(5_000).isEqualTo(lost[0]);
            assertThat(told)
                    .containsOnly(
                            Arrays.stream(cpus).mapToObj(cpu -> "CPU " + cpu).toArray(String[]::new));
        }
    }

    /** Reads what there is, too. */
    private int emit(PerfBuffer perf, int count) {
        emit(count);
        perf.consume(PerfBufferOnKernelTest::ignore);
        return count;
    }

    @Test
    void nothingIsAllocatedForARecord() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (PerfBuffer perf = PerfBuffer.open(map, Options.defaults().withPages(256))) {
            long[] sum = {0};
            RecordHandler handler = (_, data, offset, _) -> sum[0] += data.get(ValueLayout.JAVA_INT, offset + 4);
            int perRound = 20_000;
            // Once the JIT compiler has done its work, for which a busy machine takes its time. A record that continues
            // at the start needs one segment.
            Await.until(
                    perRound + " records for which less than 1000 bytes are allocated",
                    () -> {
                        emit(perRound);
                        sum[0] = 0;
                        long before = threads.getCurrentThreadAllocatedBytes();
                        int read = perf.consume(handler);
                        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                        assertThat(read).isEqualTo(perRound);
                        assertThat(sum[0]).isEqualTo(7L * perRound);
                        return allocated;
                    },
                    allocated -> allocated < 1000);
        }
    }

    @Test
    void aSleepingConsumerIsWoken() throws Exception {
        try (PerfBuffer perf = PerfBuffer.open(map)) {
            CompletableFuture<Integer> reader =
                    CompletableFuture.supplyAsync(() -> perf.poll(LONG, PerfBufferOnKernelTest::ignore), THREADS);
            awaitWaits(perf, 1);
            emit(1);
            assertThat(reader.get()).isEqualTo(1);
            CompletableFuture<Integer> again =
                    CompletableFuture.supplyAsync(() -> perf.poll(LONG, PerfBufferOnKernelTest::ignore), THREADS);
            awaitWaits(perf, 2);
            perf.wakeup();
            assertThat(again.get()).isZero();
            assertThat(perf.stats().waits()).isGreaterThanOrEqualTo(2);
        }
    }

    /** Until the consumer has begun to wait that often: what happens after that ends its wait. */
    private static void awaitWaits(PerfBuffer perf, long waits) throws IOException, InterruptedException {
        Await.until(waits + " waits", () -> perf.stats().waits() >= waits);
    }

    @Test
    void fewerWakeupsLeaveTheRestToTheTimeout() throws Exception {
        try (PerfBuffer perf = PerfBuffer.open(map, Options.defaults().withWakeupEvery(1_000_000))) {
            int read = 0;
            // A busy machine may not come to write within the time; then there is more time.
            for (Duration time = Duration.ofSeconds(1); read < 3; time = time.multipliedBy(2)) {
                long waits = perf.stats().waits();
                Duration given = time;
                long start = System.nanoTime();
                CompletableFuture<Integer> reader =
                        CompletableFuture.supplyAsync(() -> perf.poll(given, PerfBufferOnKernelTest::ignore), THREADS);
                awaitWaits(perf, waits + 1);
                assertThat(emit(3)).isZero();
                read = reader.get();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(time);
                assertThat(read + perf.consume(PerfBufferOnKernelTest::ignore)).isEqualTo(3);
            }
        }
    }

    @Test
    void bytesWakeTheConsumer() throws Exception {
        int records = 100;
        Options options = Options.defaults().withWakeupAt(records * SPACE);
        try (PerfBuffer perf = PerfBuffer.open(map, options);
                PinnedThread _ = PinnedThread.to(PinnedThread.allowed()[0])) {
            CompletableFuture<Integer> reader =
                    CompletableFuture.supplyAsync(() -> perf.poll(LONG, PerfBufferOnKernelTest::ignore), THREADS);
            awaitWaits(perf, 1);
            assertThat(emit(2 * records)).isZero();
            assertThat(reader.get()).as("records at the first wake-up").isGreaterThanOrEqualTo(records);
        }
        Options never = Options.defaults().withPages(1).withWakeupAt(4096 * 16);
        assertThatThrownBy(() -> PerfBuffer.open(map, never))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("never wake");
    }

    @Test
    void chosenCpusHaveRingsAndOthersAreFreeForAnotherBuffer() throws Exception {
        int[] allowed = PinnedThread.allowed();
        int first = allowed[0];
        int last = allowed[allowed.length - 1];
        try (PerfBuffer perf = PerfBuffer.open(map, Options.defaults().withCpus(first, first))) {
            assertThat(perf.cpus()).isEqualTo(1);
            assertThat(emitOn(first)).isZero();
            assertThat(perf.consume((cpu, _, _, _) -> assertThat(cpu).isEqualTo(first)))
                    .isEqualTo(1);
            if (last != first) {
                assertThat(emitOn(last)).as("no ring").isEqualTo(-Errno.ENOENT.number());
                try (PerfBuffer other = PerfBuffer.open(map, Options.defaults().withCpus(last))) {
                    assertThat(emitOn(last)).isZero();
                    assertThat(emitOn(first)).isZero();
                    assertThat(other.consume((cpu, _, _, _) -> assertThat(cpu).isEqualTo(last)))
                            .isEqualTo(1);
                }
                assertThat(perf.consume(PerfBufferOnKernelTest::ignore)).isEqualTo(1);
            }
        }
        int none = CpuSet.possible(Host.running()).count();
        assertThatThrownBy(() -> PerfBuffer.open(map, Options.defaults().withCpus(first, none)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CPU " + none);
        assertThat(emitOn(first)).as("nothing stays open").isNegative();
    }

    private int emitOn(int cpu) {
        try (PinnedThread _ = PinnedThread.to(cpu)) {
            return emit(1);
        }
    }

    @Test
    void pausedRingsKeepWhatTheyHaveAndCountTheRestAsLost() {
        PerfBuffer perf = PerfBuffer.open(map);
        try (perf;
                PinnedThread _ = PinnedThread.to(PinnedThread.allowed()[0])) {
            assertThat(emit(3)).isZero();
            perf.pause();
            assertThat(emit(2)).isEqualTo(-Errno.ENOSPC.number());
            assertThat(perf.consume(PerfBufferOnKernelTest::ignore)).isEqualTo(3);
            perf.resume();
            assertThat(emit(1)).isZero();
            assertThat(perf.consume(PerfBufferOnKernelTest::ignore)).isEqualTo(1);
            assertThat(perf.stats().lost()).isEqualTo(2);
        }
        assertThatThrownBy(perf::pause).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void ringsThatOverwriteHaveTheNewestRecords() {
        List<String> seen = new ArrayList<>();
        int room = (int) Host.running().pageSize() / SPACE;
        Options options = Options.defaults()
                .withPages(1)
                .withOverwriting()
                .withLostHandler((_, lost) -> seen.add("lost " + lost));
        Codec<Event> events = Codec.ofRecord(Event.class);
        try (PerfBuffer perf = PerfBuffer.open(map, options);
                PinnedThread _ = PinnedThread.to(PinnedThread.allowed()[0])) {
            assertThat(emit(3 * room)).isZero();
            assertThatThrownBy(() -> perf.consume(PerfBufferOnKernelTest::ignore))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("pause()");
            perf.pause();
            assertThat(perf.pendingBytes()).isEqualTo((long) room * SPACE);
            List<Integer> counts = new ArrayList<>();
            assertThat(perf.consume(2, (_, data, offset, _) -> counts.add(data.get(COUNT, offset))))
                    .isEqualTo(2);
            assertThat(perf.consume(events, event -> counts.add(event.count()))).isEqualTo(room - 2);
            assertThat(counts)
                    .isEqualTo(IntStream.range(2 * room, 3 * room).boxed().toList());
            assertThat(perf.consume(PerfBufferOnKernelTest::ignore)).isZero();
            assertThat(emit(2)).as("while paused").isEqualTo(-Errno.ENOSPC.number());
            perf.resume();
            assertThat(emit(2)).isZero();
            perf.pause();
            assertThat(perf.consume(events, event -> seen.add("record " + event.count())))
                    .isEqualTo(2);
            assertThat(seen).containsExactly("lost 2", "record " + (3 * room + 2), "record " + (3 * room + 3));
            assertThat(perf.stats().lost()).isEqualTo(2);
        }
    }

    @Test
    void programsAreToldWhenNobodyReads() {
        assertThat(emit(1)).as("before").isNegative();
        PerfBuffer perf = PerfBuffer.open(map);
        assertThat(emit(1)).isZero();
        perf.close();
        assertThat(emit(1)).as("after").isNegative();
    }

    @Test
    void closingFromAHandlerAndFromAnotherThread() throws Exception {
        PerfBuffer perf = PerfBuffer.open(map);
        emit(5);
        assertThat(perf.consume(_ -> perf.close())).isEqualTo(1);
        assertThatThrownBy(() -> perf.consume(PerfBufferOnKernelTest::ignore))
                .isInstanceOf(IllegalStateException.class);
        PerfBuffer other = PerfBuffer.open(map);
        CompletableFuture<Integer> reader =
                CompletableFuture.supplyAsync(() -> other.poll(LONG, PerfBufferOnKernelTest::ignore), THREADS);
        awaitWaits(other, 1);
        other.close();
        assertThat(reader.get()).isZero();
    }

    /** The type tells which {@code poll} is meant. */
    private static void ignore(MemorySegment data) {
        assertThat(data).isNotNull();
    }
}
