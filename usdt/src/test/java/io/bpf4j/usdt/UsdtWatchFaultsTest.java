package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A watch whose tracer fails. No such process exists. */
@Timeout(300) // against a hang
class UsdtWatchFaultsTest {
    private static final int PID = 1 << 28;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final List<Integer> ended = new CopyOnWriteArrayList<>();

    private final UsdtWatch.Listener listener = new UsdtWatch.Listener() {
        @Override
        public void appeared(int pid, UsdtScan scan) {}

        @Override
        public void ended(int pid) {
            ended.add(pid);
        }
    };

    private static void awaitEnd(UsdtWatch watch) {
        while (watch.isAlive()) {
            Thread.onSpinWait();
        }
    }

    /** Nobody will say any more that the process calls exec. */
    @Test
    void aWatchThatWaitsForExecEndsAlsoIfItsTracerHasFailed() {
        kernel.fail(ProcessCommand.Wait.class, Errno.EINVAL);
        try (UsdtWatch watch = UsdtWatch.of(kernel.host(), PID).fromExec().start(listener)) {
            awaitEnd(watch);
            assertThat(watch.gaps()).singleElement().asString().contains("tracing ended early");
            assertThat(ended).containsExactly(PID);
        }
    }
}
