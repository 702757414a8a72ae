package io.bpf4j.loader.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written, read by a {@link RingConsumer}, which reads as the kernel does; and what opens and closes. */
class UserRingBufferTest {
    private static final int SIZE = 4096;

    /** It is not over when the wait begins, however long the machine takes until then. */
    private static final Duration LONG = Duration.ofDays(1);

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final KernelMap map = KernelMap.create(
            kernel.host(), MapCommand.Create.of(MapType.USER_RINGBUF.number(), "orders", 0, 0, SIZE), "orders");

    @AfterEach
    void close() {
        map.close();
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
    }

    @Test
    void theBytesOfTheProtocol() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment consumer = arena.allocate(8, 8);
            MemorySegment producer = arena.allocate(8, 8);
            MemorySegment data = arena.allocate(2 * 64, 8);
            UserRingProducer ring = new UserRingProducer(consumer.asReadOnly(), producer, data);
            assertThat(ring.maxSize()).isEqualTo(56);
            long first = ring.reserve(5);
            assertThat(data.get(ValueLayout.JAVA_INT, 0)).isEqualTo(5 | 1 << 31);
            assertThat(producer.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(16);
            long second = ring.reserve(8);
            assertThat(second).isEqualTo(16);
            ring.finish(second, 8, true);
            ring.payload(first, 5).fill((byte) 0x61);
            ring.finish(first, 5, false);
            if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
                assertThat(HexFormat.of().formatHex(data.asSlice(0, 32).toArray(ValueLayout.JAVA_BYTE)))
                        .isEqualTo("0500000000000000" + "6161616161000000" + "0800004000000000" + "0000000000000000");
            }
            assertThat(ring.reserve(25))
                    .as("32 bytes are left, 8 for the header")
                    .isEqualTo(-1);
            assertThat(ring.reserve(24)).isEqualTo(32);
            assertThat(ring.reserve(0)).isEqualTo(-1);
            consumer.set(ValueLayout.JAVA_LONG, 0, 16);
            assertThat(ring.reserve(8)).isZero();
            assertThat(ring.pending()).isEqualTo(64);
        }
    }

    @Test
    void whatIsWrittenIsRead() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            assertThat(ring.submit("one".getBytes(US_ASCII))).isTrue();
            try (UserRingBuffer.Sample sample = ring.reserve(5).orElseThrow()) {
                sample.data().fill((byte) 'x'); // and not submitted
            }
            assertThat(ring.submit(Codec.ofString(8), "three")).isTrue();
            assertThat(ring.pendingBytes()).isEqualTo(16 + 16 + 16);
            assertThat(read()).containsExactly("one", "three\0\0\0");
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    @Test
    void aRecordThatIsNotFinishedHoldsUpThoseBehind() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            UserRingBuffer.Sample late = ring.reserve(4).orElseThrow();
            ring.submit("early".getBytes(US_ASCII));
            assertThat(read()).isEmpty();
            MemorySegment.copy("late".getBytes(US_ASCII), 0, late.data(), ValueLayout.JAVA_BYTE, 0, 4);
            late.submit();
            assertThat(read()).containsExactly("late", "early");
            assertThatThrownBy(late::submit).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(late::data).hasMessageContaining("has been submitted or discarded");
            late.discard();
            late.close();
            assertThat(read()).isEmpty();
        }
    }

    @Test
    void aValueThatTheCodecRefusesLeavesNothing() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            assertThatThrownBy(() -> ring.submit(Codec.ofString(4), "too long"))
                    .isInstanceOf(IllegalArgumentException.class);
            ring.submit("next".getBytes(US_ASCII));
            assertThat(read()).containsExactly("next");
        }
    }

    @Test
    void aFullRingSaysSoAndManyRoundsFit() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
            List<String> written = new ArrayList<>();
            List<String> seen = new ArrayList<>();
            for (int i = 0; i < 5000; i++) {
                String text = "x".repeat(random.nextInt(300)) + i;
                while (!ring.submit(text.getBytes(US_ASCII))) {
                    List<String> some = read();
                    assertThat(some).isNotEmpty();
                    seen.addAll(some);
                }
                written.add(text);
            }
            seen.addAll(read());
            assertThat(seen).isEqualTo(written);
        }
    }

    @Test
    @Timeout(20)
    void aNegativeTimeoutIsNoWait() {
        try (UserRingBuffer ring = UserRingBuffer.open(map);
                UserRingBuffer.Sample _ = ring.reserve(SIZE - 8).orElseThrow()) {
            for (long seconds : new long[] {-1, -9_223_372_037L, Long.MIN_VALUE}) {
                assertThat(ring.reserve(8, Duration.ofSeconds(seconds))).isEmpty();
            }
        }
    }

    @Test
    void sizesThatNeverFitAreRefused() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            assertThatThrownBy(() -> ring.reserve(SIZE - 7))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("a record of 4089 bytes does not fit in user ring buffer orders:"
                            + " the maximum is 4088 bytes");
            assertThatThrownBy(() -> ring.reserve(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(ring.reserve(SIZE - 8)).isPresent();
            assertThat(ring.reserve(0)).isEmpty();
        }
    }

    @Test
    void waitingForRoomEndsWhenAProgramHasRead() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            ring.submit(new byte[SIZE - 8]);
            kernel.answer(FileCommand.EpollWait.class, wait -> {
                assertThat(wait.timeoutMillis()).isBetween(1, (int) LONG.toMillis());
                read();
                return 1;
            });
            assertThat(ring.reserve(100, LONG)).isPresent();
            assertThat(kernel.commands(FileCommand.EpollWait.class)).hasSize(1);
            assertThat(kernel.commands(FileCommand.EpollAdd.class).getLast().events())
                    .isEqualTo(EpollEvent.WRITABLE | EpollEvent.EDGE_TRIGGERED);
        }
    }

    @Test
    void waitingForRoomEndsWhenTheTimeIsUpOrTheRingIsClosed() {
        try (UserRingBuffer ring = UserRingBuffer.open(map)) {
            ring.submit(new byte[SIZE - 8]);
            assertThat(ring.reserve(100, Duration.ZERO)).isEqualTo(Optional.empty());
            assertThat(ring.reserve(100, Duration.ofMillis(5))).isEmpty();
            kernel.answer(FileCommand.EpollWait.class, _ -> {
                Thread closer = Thread.ofPlatform().start(ring::close);
                while (!ring.isClosed()) {
                    Thread.onSpinWait();
                }
                assertThat(closer.isAlive()).as("waits for us").isTrue();
                return 1;
            });
            assertThatThrownBy(() -> ring.reserve(100, LONG))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("user ring buffer orders is closed");
        }
    }

    @Test
    void aClosedRingRefusesEverything() {
        UserRingBuffer ring = UserRingBuffer.open(map);
        UserRingBuffer.Sample open = ring.reserve(8).orElseThrow();
        ring.close();
        ring.close();
        assertThat(ring.isClosed()).isTrue();
        assertThatThrownBy(() -> ring.submit(new byte[1])).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(ring::pendingBytes).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(open::submit).isInstanceOf(IllegalStateException.class);
        open.close();
        assertThat(kernel.open()).containsExactly("map \"orders\"");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void whateverFailsNothingStaysOpen(int step) {
        kernel.failNth(step, FileCommand.class, Errno.ENOMEM);
        assertThatThrownBy(() -> UserRingBuffer.open(map)).isInstanceOf(SyscallException.class);
        assertThat(kernel.mappings()).isZero();
        assertThat(kernel.open()).containsExactly("map \"orders\"");
    }

    @Test
    void onlyUserRingBuffersAreUserRingBuffers() {
        try (KernelMap ring = KernelMap.create(
                kernel.host(), MapCommand.Create.of(MapType.RINGBUF.number(), "events", 0, 0, SIZE), "events")) {
            assertThatThrownBy(() -> UserRingBuffer.open(ring))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not a user ring buffer");
        }
    }

    /** What a program would read. The data is one block here, so what crosses its end is put together first. */
    private List<String> read() {
        long page = kernel.host().pageSize();
        MemorySegment all = map.memory(0, 2 * page + 2 * SIZE, true);
        MemorySegment data = all.asSlice(2 * page, 2 * SIZE);
        List<String> records = new ArrayList<>();
        long[] position = {all.get(ValueLayout.JAVA_LONG, 0)};
        long end = all.get(ValueLayout.JAVA_LONG, page);
        while (position[0] < end) {
            long at = position[0] & (SIZE - 1);
            int header = data.get(ValueLayout.JAVA_INT, at);
            if ((header & RingConsumer.BUSY) != 0) {
                break;
            }
            int length = header & ~RingConsumer.DISCARD;
            if ((header & RingConsumer.DISCARD) == 0) {
                records.add(new String(data.asSlice(at + 8, length).toArray(ValueLayout.JAVA_BYTE), US_ASCII));
            }
            position[0] += (8L + length + 7) & ~7L;
            all.set(ValueLayout.JAVA_LONG, 0, position[0]);
        }
        return records;
    }
}
