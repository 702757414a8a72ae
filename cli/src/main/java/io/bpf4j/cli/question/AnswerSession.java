package io.bpf4j.cli.question;

import io.bpf4j.cli.trace.ProbeSession;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A question that runs while a command runs. <i>Thread-safe.</i> */
public final class AnswerSession implements ProbeSession {
    private final Answer answer;
    private final CountDownLatch woken = new CountDownLatch(1);

    public AnswerSession(Answer answer) {
        this.answer = answer;
    }

    public Answer answer() {
        return answer;
    }

    /** Waits for a time in nanoseconds, or until {@link #wakeup}. */
    public void pause(long nanos) {
        try {
            boolean _ = woken.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid) {
        return answer.attach(probes, pid);
    }

    @Override
    public Link attachFunctions(List<FunctionProbe> functions, OptionalInt pid, Consumer<FunctionProbe> leftOut) {
        return answer.attachFunctions(functions, pid, leftOut);
    }

    @Override
    public void detach(Link link) {
        answer.detach(link);
    }

    @Override
    public void close(Link link) {
        answer.close(link);
    }

    @Override
    public List<Closing> detach() {
        return answer.detach();
    }

    @Override
    public void wakeup() {
        woken.countDown();
        answer.wakeup();
    }

    @Override
    public void abandon() {
        answer.resumePaused();
    }

    @Override
    public void close() {
        answer.close();
    }
}
