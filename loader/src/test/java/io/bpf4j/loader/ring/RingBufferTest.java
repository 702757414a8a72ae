package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What opens and closes; that records arrive is shown on the real kernel. */
class RingBufferTest {

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final KernelMap map = map("events", MapType.RINGBUF);

    @AfterEach
    void close() {
        map.close();
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
    }

    @Test
    void closingGivesAllBackTwiceIsOnce() {
        RingBuffer ring = RingBuffer.open(map);
        assertThat(kernel.mappings()).isEqualTo(2);
        assertThat(kernel.open()).hasSize(3);
        ring.close();
        ring.close();
        assertThat(kernel.mappings()).isZero();
        assertThat(kernel.open()).hasSize(1);
        assertThat(ring.isClosed()).isTrue();
        ring.wakeup();
        assertThatThrownBy(() -> ring.poll(Duration.ZERO, RingBufferTest::ignore))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the ring buffer is closed");
        assertThatThrownBy(ring::pendingBytes).hasMessage("the ring buffer is closed");
    }

    @Test
    void aRingThatOverwritesIsRefused() {
        MapCommand.Create create = MapCommand.Create.of(MapType.RINGBUF.number(), "recent", 0, 0, 4096)
                .withFlags(1 << 19);
        try (KernelMap recent = KernelMap.create(kernel.host(), create, "recent")) {
            assertThatThrownBy(() -> RingBuffer.open(map, recent))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("map \"recent\" (RINGBUF")
                    .hasMessageContaining("BPF_F_RB_OVERWRITE");
            assertThat(kernel.open()).hasSize(2);
        }
    }

    @Test
    void anEmptyRingWaitsForTheTimeGivenAndNoLonger() {
        try (RingBuffer ring = RingBuffer.open(map)) {
            assertThat(ring.poll(Duration.ZERO, RingBufferTest::ignore)).isZero();
            for (long seconds : new long[] {-1, -9_223_372_037L, Long.MIN_VALUE}) {
                assertThat(ring.poll(Duration.ofSeconds(seconds), RingBufferTest::ignore))
                        .isZero();
            }
            assertThat(kernel.commands(FileCommand.EpollWait.class)).isEmpty();
            assertThat(ring.poll(Duration.ofMillis(3), RingBufferTest::ignore)).isZero();
            assertThat(kernel.commands(FileCommand.EpollWait.class))
                    .allSatisfy(wait -> assertThat(wait.timeoutMillis()).isBetween(1, 3));
            kernel.clearCommands();
            Runnable close = ring::close;
            kernel.answer(FileCommand.EpollWait.class, _ -> {
                close.run();
                return 0;
            });
            assertThat(ring.poll(Duration.ofDays(1), RingBufferTest::ignore)).isZero();
            assertThat(kernel.commands(FileCommand.EpollWait.class))
                    .singleElement()
                    .satisfies(wait -> assertThat(wait.timeoutMillis())
                            .isBetween(1, (int) Duration.ofDays(1).toMillis()));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9})
    void whateverFailsNothingStaysOpen(int step) {
        KernelMap second = map("second", MapType.RINGBUF);
        kernel.failNth(step, FileCommand.class, Errno.ENOMEM);
        assertThatThrownBy(() -> RingBuffer.open(map, second)).isInstanceOf(SyscallException.class);
        assertThat(kernel.mappings()).isZero();
        assertThat(kernel.open()).containsExactly("map \"events\"", "map \"second\"");
        second.close();
    }

    /** The poll around a handler that closes gives all back, and another may close again. */
    @Test
    void whereClosingFailsTheRestIsGivenBackAndNobodyWaits() throws InterruptedException {
        RingBuffer ring = RingBuffer.open(map);
        kernel.answer(FileCommand.EpollWait.class, _ -> {
            ring.close();
            return 0;
        });
        kernel.failNth(1, FileCommand.Close.class, Errno.EIO);
        assertThatThrownBy(() -> ring.poll(Duration.ofDays(1), RingBufferTest::ignore))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EIO");
        assertThat(kernel.mappings()).isZero();
        assertThat(kernel.open()).as("Linux closes also if close(2) fails").containsExactly("map \"events\"");
        Thread other = Thread.ofPlatform().start(ring::close);
        other.join();
    }

    @Test
    void onlyRingBuffersAreRingBuffers() {
        try (KernelMap hash = map("table", MapType.HASH)) {
            kernel.clearCommands();
            assertThatThrownBy(() -> RingBuffer.open(map, hash))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("map \"table\" (HASH")
                    .hasMessageContaining("is not a ring buffer");
            assertThat(kernel.commands(Command.class)).isEmpty();
        }
    }

    private KernelMap map(String name, MapType type) {
        int size = type == MapType.RINGBUF ? 0 : 4;
        return KernelMap.create(kernel.host(), MapCommand.Create.of(type.number(), name, size, size, 1 << 16), name);
    }

    /** A handler for rings without records; the type tells which {@code poll} is meant. */
    private static void ignore(MemorySegment data) {
        assertThat(data).as("no record is expected").isNull();
    }
}
