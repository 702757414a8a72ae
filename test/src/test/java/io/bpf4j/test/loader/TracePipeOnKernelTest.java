package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.ring.TracePipe;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What programs print for all of the machine to read. */
@Requires({BPF, TRACEFS})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // closed before the end of its block
class TracePipeOnKernelTest {
    @Test
    void linesOfPrintk() throws Exception {
        try (BpfObject object = Bpf.load("log.bpf.o", loader -> loader.program("print", p -> p.withAutoload(true)));
                TracePipe pipe = TracePipe.open()) {
            // Other programs of the machine may print, and other readers of the machine take lines.
            int number = ThreadLocalRandom.current().nextInt(1 << 20, 1 << 30);
            object.global("small").setInt(number);
            List<String> lines = new ArrayList<>();
            Await.until("the line of the program", () -> {
                object.program("print").test(TestRun.onData(new byte[64]));
                pipe.poll(Duration.ofMillis(100), lines::add);
                return lines.stream().anyMatch(line -> line.endsWith("bpf_trace_printk: bpf4j says " + number));
            });
            assertThat(lines).noneMatch(line -> line.contains("\n"));
        }
    }

    @Test
    void aWaitIsEnded() throws Exception {
        try (TracePipe pipe = TracePipe.open()) {
            while (pipe.poll(Duration.ZERO, _ -> {}) > 0) {}
            for (long seconds : new long[] {-1, -9_223_372_037L, Long.MIN_VALUE}) {
                pipe.poll(Duration.ofSeconds(seconds), _ -> {});
            }
            pipe.wakeup();
            pipe.poll(Duration.ofSeconds(Long.MAX_VALUE), _ -> {});
            CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
                try {
                    while (true) {
                        pipe.poll(Duration.ofDays(1), _ -> {});
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining("closed");
                }
            });
            pipe.close();
            waiting.get();
            assertThatThrownBy(() -> pipe.poll(Duration.ZERO, _ -> {}))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
    }
}
