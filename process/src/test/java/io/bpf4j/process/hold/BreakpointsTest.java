package io.bpf4j.process.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.call.WaitStatus;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Breakpoints in processes that end at the wrong moment, over a kernel that plays it back. No such processes exist. */
@Timeout(300) // against a hang
class BreakpointsTest {
    private static final int PID = 1 << 28;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();
    private final CountDownLatch end = new CountDownLatch(1);

    /** Not an answer of the scripted kernel, which waits for one call before the next. */
    private final Kernel ending = new Kernel() {
        private boolean ended;

        @Override
        @SuppressWarnings("unchecked") // the result of the command
        public <R> R execute(Command<R> command) {
            if (command instanceof ProcessCommand.Wait) {
                awaitEnd();
                WaitStatus status = ended ? WaitStatus.NO_TRACEES : new WaitStatus(PID, 9);
                ended = true;
                return (R) status;
            }
            R result = kernel.execute(command);
            if (command instanceof LinkCommand.Create) {
                end.countDown();
                awaitReport();
            }
            return result;
        }
    };

    private ProcessTracer tracer() {
        return ProcessTracer.start(kernel.host().with(Kernel.class, ending), PID, true, stops::add);
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitReport() {
        while (stops.isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private void breakAt(ProcessTracer tracer) {
        tracer.breakAt(PID, Path.of("/lib/ld.so"), ScriptedKernel.UNKNOWN_FILE, 0x100);
    }

    private void awaitAllClosed() {
        while (!kernel.open().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aProcessThatEndsMeanwhileKeepsNone() {
        ProcessTracer tracer = tracer();
        breakAt(tracer);
        assertThat(kernel.commands(LinkCommand.Create.class)).isNotEmpty();
        awaitAllClosed();
        assertThat(stops).extracting(ProcessStop::kind).containsExactly(ProcessStop.Kind.ENDED);
        tracer.close();
    }

    /** Of three hits a signal was sent, and no thread stopped. */
    @Test
    void whyAThreadDidNotStopIsSaidOnlyIfItIsKnown() {
        kernel.answer(MapCommand.Element.class, counters -> {
            counters.value().setAtIndex(ValueLayout.JAVA_LONG, 0, 3); // sent
            counters.value().setAtIndex(ValueLayout.JAVA_LONG, 1, 1); // blocked
            counters.value().setAtIndex(ValueLayout.JAVA_LONG, 2, 4); // not sent
            return 0;
        });
        ProcessTracer tracer = tracer();
        breakAt(tracer);
        awaitAllClosed();
        assertThat(tracer.gaps())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "once a thread reached a breakpoint with SIGURG blocked, and could not be stopped",
                        "7 times a thread reached a breakpoint and was not stopped, for an unknown reason");
        tracer.close();
    }

    @Test
    void aProcessThatHasEndedGetsNone() throws InterruptedException {
        ProcessTracer tracer = tracer();
        end.countDown();
        assertThat(stops.take().kind()).isEqualTo(ProcessStop.Kind.ENDED);
        breakAt(tracer);
        assertThat(kernel.commands(MapCommand.Create.class)).isEmpty();
        tracer.close();
    }
}
