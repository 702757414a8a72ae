package io.bpf4j.process.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.Ptrace;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.call.WaitStatus;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the tracer makes of each piece of news, over a kernel that plays it back. No such processes exist. */
@Timeout(300) // against a hang
class TracerThreadTest {
    private static final int ROOT = 1 << 28;
    private static final int CHILD = ROOT + 1;
    private static final int SIGNAL = 11;
    private static final int FORK = 1;

    private final ScriptedKernel kernel = new ScriptedKernel();

    @TempDir
    private Path machine;

    private final Deque<WaitStatus> news = new ArrayDeque<>();
    private final List<WaitStatus> afterRoot = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private final List<Set<Integer>> leftAtEnds = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private boolean breakpoint;
    private TracerThread tracer = tracer(kernel.host(), true);

    private TracerThread tracer(Host host, boolean withChildren) {
        return new TracerThread(host, withChildren, stop -> {
            told.add(stop.toString());
            if (stop.kind() == ProcessStop.Kind.ENDED) {
                leftAtEnds.add(tracer.processes());
            }
            boolean held = stop.kind() != ProcessStop.Kind.BREAKPOINT || breakpoint;
            if (held) {
                tracer.resume(stop);
            }
            if (stop.kind() == ProcessStop.Kind.ENDED && stop.pid() == ROOT) {
                ended.countDown();
            }
            return held;
        });
    }

    /** Plays the news, with the end of the first process as the last; gives what was asked of the kernel for them. */
    private List<Command<?>> play(WaitStatus... statuses) throws InterruptedException {
        news.addAll(List.of(statuses));
        news.add(new WaitStatus(ROOT, 0));
        news.addAll(afterRoot);
        kernel.answer(ProcessCommand.Wait.class, _ -> news.isEmpty() ? WaitStatus.NO_TRACEES : news.removeFirst());
        tracer.start(ROOT);
        ended.await();
        return kernel.commands().stream()
                .filter(command -> !(command instanceof ProcessCommand.Wait
                        || command instanceof ProcessCommand.Seize
                        || command instanceof ProcessCommand.EventMessage))
                .toList();
    }

    private static WaitStatus stop(int tid, int signal, int event) {
        return new WaitStatus(tid, event << 16 | signal << 8 | 0x7f);
    }

    @Test
    void signalsAreDelivered() throws InterruptedException {
        assertThat(play(stop(ROOT, SIGNAL, 0), stop(ROOT, Ptrace.SIGSTOP, 0), stop(ROOT, Ptrace.SIGCONT, 0)))
                .containsExactly(
                        new ProcessCommand.Continue(ROOT, SIGNAL),
                        new ProcessCommand.Continue(ROOT, Ptrace.SIGSTOP),
                        new ProcessCommand.Continue(ROOT, Ptrace.SIGCONT));
        assertThat(told).containsExactly("ENDED of process " + ROOT);
    }

    @Test
    void aProcessThatWasStoppedStaysSoUntilItIsContinued() throws InterruptedException {
        assertThat(play(stop(ROOT, Ptrace.SIGTTOU, Ptrace.EVENT_STOP), stop(ROOT, 5, Ptrace.EVENT_STOP)))
                .containsExactly(new ProcessCommand.Listen(ROOT), new ProcessCommand.Continue(ROOT, 0));
    }

    @Test
    void aChildIsHeldAtBirthAndAStoppedOneStaysStopped() throws InterruptedException {
        assertThat(play(
                        stop(CHILD, 5, Ptrace.EVENT_STOP),
                        stop(ROOT, 5, FORK),
                        stop(CHILD + 1, Ptrace.SIGSTOP, Ptrace.EVENT_STOP)))
                .containsExactlyInAnyOrder(
                        new ProcessCommand.Continue(CHILD, 0),
                        new ProcessCommand.Continue(ROOT, 0),
                        new ProcessCommand.Listen(CHILD + 1));
        assertThat(told)
                .containsExactly(
                        "BORN of process " + CHILD, "BORN of process " + (CHILD + 1), "ENDED of process " + ROOT);
    }

    /** On a busy machine the child runs for the first time when its parent has ended. */
    @Test
    void tracingOutlivesAProcessWhoseChildHasNotRun() throws InterruptedException {
        afterRoot.add(stop(CHILD, 5, Ptrace.EVENT_STOP));
        afterRoot.add(new WaitStatus(CHILD, 0));
        play();
        while (tracer.isTracing()) {
            Thread.onSpinWait();
        }
        assertThat(told)
                .containsExactly("ENDED of process " + ROOT, "BORN of process " + CHILD, "ENDED of process " + CHILD);
    }

    /** A watch may have found the child in the list of its parent's children before it ran. */
    @Test
    void theEndOfAChildThatWasKilledBeforeItRanIsReported() throws InterruptedException {
        assertThat(play(new WaitStatus(CHILD, 9))).isEmpty();
        assertThat(told).containsExactly("ENDED of process " + CHILD, "ENDED of process " + ROOT);
    }

    private void existing(int pid, String state, String children) {
        ScriptedHost.write(machine, "proc/" + pid + "/status", "State:\t" + state + "\nTracerPid:\t0\n");
        ScriptedHost.write(machine, "proc/" + pid + "/task/" + pid + "/children", children);
    }

    private static void refuse(ProcessCommand.Seize seize) {
        throw new SyscallException(seize.call(), Errno.EPERM.number(), "");
    }

    /** The kernel refuses to trace a zombie. */
    @Test
    void aChildThatHasEndedIsNoGap() throws InterruptedException {
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        existing(ROOT, "S (sleeping)", CHILD + " ");
        existing(CHILD, "Z (zombie)", "");
        kernel.answer(ProcessCommand.Seize.class, seize -> {
            if (seize.tid() == CHILD) {
                refuse(seize);
            }
            return 0;
        });
        play(stop(ROOT, SIGNAL, 0));
        assertThat(tracer.gaps()).isEmpty();
        assertThat(leftAtEnds).containsExactly(Set.of());
    }

    /** Its last thread is the last that the kernel reports. */
    @Test
    void theEndOfAProcessWhoseFirstThreadHadEndedBeforeIsReported() throws InterruptedException {
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        int second = CHILD + 1;
        existing(ROOT, "S (sleeping)", CHILD + " ");
        existing(CHILD, "Z (zombie)", "");
        Path thread = machine.resolve("proc/" + CHILD + "/task/" + second);
        assertThat(thread.toFile().mkdir()).isTrue();
        kernel.answer(ProcessCommand.Seize.class, seize -> {
            if (seize.tid() == CHILD) {
                refuse(seize);
            }
            return 0;
        });
        kernel.answer(ProcessCommand.Continue.class, _ -> thread.toFile().delete() ? 0 : 1);
        play(stop(second, SIGNAL, 0), new WaitStatus(second, 0));
        assertThat(told).containsExactly("ENDED of process " + CHILD, "ENDED of process " + ROOT);
        assertThat(tracer.gaps()).isEmpty();
    }

    @Test
    void aChildThatIsRefusedIsAGap() throws InterruptedException {
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        existing(ROOT, "S (sleeping)", CHILD + " ");
        existing(CHILD, "S (sleeping)", "");
        kernel.answer(ProcessCommand.Seize.class, seize -> {
            if (seize.tid() == CHILD) {
                refuse(seize);
            }
            return 0;
        });
        play();
        assertThat(tracer.gaps()).singleElement().asString().contains("thread " + CHILD + " of process " + CHILD);
    }

    /** The kernel may skip a child if another one ends while it lists them. */
    @Test
    void aChildThatIsListedLaterIsTraced() throws InterruptedException {
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        existing(ROOT, "S (sleeping)", CHILD + " ");
        existing(CHILD, "S (sleeping)", "");
        existing(CHILD + 1, "S (sleeping)", "");
        kernel.answer(ProcessCommand.Seize.class, seize -> {
            if (seize.tid() == CHILD) {
                existing(ROOT, "S (sleeping)", (CHILD + 1) + " ");
            }
            return 0;
        });
        play();
        assertThat(kernel.commands(ProcessCommand.Seize.class))
                .extracting(ProcessCommand.Seize::tid)
                .containsExactly(ROOT, CHILD, CHILD + 1);
    }

    /** With CLONE_UNTRACED, so that the kernel does not trace them from their start. */
    @Test
    void childrenWithoutEndAreNotSearchedForWithoutEnd() throws InterruptedException {
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        tracer.seizeNanos = 1;
        existing(ROOT, "S (sleeping)", "");
        kernel.answer(ProcessCommand.Seize.class, seize -> {
            int next = Math.max(CHILD, seize.tid() + 1);
            existing(next, "S (sleeping)", "");
            existing(ROOT, "S (sleeping)", next + " ");
            return 0;
        });
        play();
        assertThat(tracer.gaps()).singleElement().asString().contains("created faster than they can be traced");
    }

    @Test
    void whereChildrenAreOfNoInterestTheyAreLetGo() throws InterruptedException {
        tracer = tracer(kernel.host(), false);
        assertThat(play(stop(CHILD, 5, Ptrace.EVENT_STOP))).containsExactly(new ProcessCommand.Detach(CHILD, 0));
        assertThat(told).containsExactly("ENDED of process " + ROOT);
        assertThat(kernel.commands(ProcessCommand.Seize.class))
                .containsExactly(new ProcessCommand.Seize(ROOT, Ptrace.TRACE_CLONE | Ptrace.TRACE_EXEC));
    }

    @Test
    void execByAnotherThreadIsSaid() throws InterruptedException {
        kernel.answer(ProcessCommand.EventMessage.class, _ -> CHILD);
        assertThat(play(stop(ROOT, 5, Ptrace.EVENT_EXEC))).contains(new ProcessCommand.Continue(ROOT, 0));
        assertThat(told)
                .containsExactly(
                        "EXEC of process " + ROOT + " by another thread than its first", "ENDED of process " + ROOT);
    }

    @Test
    void urgentDataOfAProgramIsItsOwn() throws InterruptedException {
        kernel.answer(ProcessCommand.SignalOrigin.class, _ -> new ProcessCommand.SignalOrigin.Origin(0x80, 0));
        assertThat(play(stop(ROOT, Ptrace.SIGURG, 0))).contains(new ProcessCommand.Continue(ROOT, Ptrace.SIGURG));
        assertThat(told).containsExactly("BREAKPOINT of process " + ROOT, "ENDED of process " + ROOT);
    }

    @Test
    void theSignalOfABreakpointIsNotDelivered() throws InterruptedException {
        breakpoint = true;
        kernel.answer(ProcessCommand.SignalOrigin.class, _ -> new ProcessCommand.SignalOrigin.Origin(0x80, 0));
        assertThat(play(stop(ROOT, Ptrace.SIGURG, 0))).contains(new ProcessCommand.Continue(ROOT, 0));
    }

    @Test
    void aSignalOfAnotherProcessIsDelivered() throws InterruptedException {
        kernel.answer(ProcessCommand.SignalOrigin.class, _ -> new ProcessCommand.SignalOrigin.Origin(0, 1));
        assertThat(play(stop(ROOT, Ptrace.SIGURG, 0))).contains(new ProcessCommand.Continue(ROOT, Ptrace.SIGURG));
        assertThat(told).containsExactly("ENDED of process " + ROOT);
    }

    /** SIGKILL ends any stop: commands fail then, and the end of the process is the next news. */
    @Test
    void whoIsKilledWhileItIsHeldIsNoFailure() throws InterruptedException {
        kernel.fail(ProcessCommand.Continue.class, Errno.ESRCH);
        kernel.fail(ProcessCommand.EventMessage.class, Errno.ESRCH);
        kernel.fail(ProcessCommand.SignalOrigin.class, Errno.ESRCH);
        play(
                stop(CHILD, 5, Ptrace.EVENT_STOP),
                stop(CHILD, Ptrace.SIGURG, 0),
                stop(CHILD, 5, Ptrace.EVENT_EXEC),
                new WaitStatus(CHILD, 9));
        assertThat(told)
                .containsExactly("BORN of process " + CHILD, "ENDED of process " + CHILD, "ENDED of process " + ROOT);
        assertThat(tracer.gaps()).isEmpty();
    }

    /** As a thread is that waits for the end of a vfork: it takes no signal. Each is sent one, but not each waited for. */
    @Test
    void closingSignalsAlsoThreadsThatTakeNoSignalNow() {
        int many = 100;
        CountDownLatch waiting = new CountDownLatch(1);
        CountDownLatch signalled = new CountDownLatch(many);
        Host host = ScriptedHost.of(kernel, machine).with(Kernel.class, new Kernel() {
            @Override
            @SuppressWarnings("unchecked") // the result of the command
            public <R> R execute(Command<R> command) {
                if (command instanceof ProcessCommand.Wait) {
                    waiting.countDown();
                    awaitAll(signalled);
                    return (R) WaitStatus.NO_TRACEES;
                }
                R result = kernel.execute(command);
                if (command instanceof ProcessCommand.Signal) {
                    signalled.countDown();
                }
                return result;
            }
        });
        tracer = tracer(host, true);
        for (int tid = ROOT; tid < ROOT + many; tid++) {
            ScriptedHost.write(
                    machine, "proc/" + tid + "/status", "State:\tD (disk sleep)\nSigBlk:\t0000000000000000\n");
            ScriptedHost.write(machine, "proc/" + ROOT + "/task/" + tid + "/children", "");
        }
        tracer.start(ROOT);
        awaitAll(waiting); // before that the thread ends by itself
        tracer.close();
        assertThat(kernel.commands(ProcessCommand.Signal.class)).hasSize(many);
    }

    /** A container may have the capability to trace other users' processes, and not that to signal them. */
    @ParameterizedTest
    @CsvSource({"0000000000000000, false", "0000000000000020, true"})
    void nobodyIsWaitedForWhoCouldNotBeSignalled(String capabilities, boolean waits) throws InterruptedException {
        ScriptedHost.write(machine, "proc/self/status", "CapEff:\t" + capabilities + "\n");
        ScriptedHost.write(machine, "proc/" + ROOT + "/task/" + ROOT + "/children", "");
        tracer = tracer(ScriptedHost.of(kernel, machine), true);
        play();
        assertThat(kernel.commands(ProcessCommand.Wait.class).getFirst().blocking())
                .isEqualTo(waits);
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void anErrorOfJavaIsPassedOnAsItIs() {
        OutOfMemoryError error = new OutOfMemoryError("injected");
        kernel.throwAt(1, error);
        assertThatThrownBy(() -> tracer.start(ROOT)).isSameAs(error);
    }

    /** All that was held is continued by the kernel when the tracing thread ends; who asked is told of it. */
    @Test
    void anErrorOfJavaWhileProcessesAreTracedIsAGap() {
        kernel.throwAt(2, new OutOfMemoryError("injected"));
        tracer.start(ROOT);
        while (tracer.isTracing()) {
            Thread.onSpinWait();
        }
        assertThat(tracer.processes()).isEmpty();
        assertThat(tracer.gaps())
                .singleElement()
                .extracting(Diagnostic::message)
                .isEqualTo("tracing ended early: java.lang.OutOfMemoryError: injected");
    }

    @Test
    void whoCannotBeTracedIsRefusedWithTheReason() {
        kernel.fail(ProcessCommand.Seize.class, Errno.EPERM);
        assertThatThrownBy(() -> tracer.start(ROOT))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("ptrace(PTRACE_SEIZE) of thread " + ROOT + " failed: EPERM");
    }
}
