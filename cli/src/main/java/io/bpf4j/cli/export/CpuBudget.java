package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.output.Console;
import io.bpf4j.sys.internal.thread.Threads;
import io.bpf4j.trace.RunningProgram.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Suspends questions whose BPF programs take too much of the machine, by the kernel's own measurement of them.
 * <i>Confined</i>: one thread checks the questions.
 *
 * <p>The budget is that of all questions together, because the machine carries the total, and because it stays right
 * when questions are added. The costliest question is suspended first, and no more than are necessary. A suspended one
 * is detached: a program that only returned at once would still cost the breakpoint and the kernel's path to the
 * program, which take longer than most programs.
 *
 * <p>Tested by {@code CpuBudgetTest} and {@code CliExportTest}.
 */
public final class CpuBudget implements AutoCloseable {
    /**
     * The time between two checks. A question that is too expensive runs for that long, or twice as long if it has just
     * begun.
     */
    static final Duration INTERVAL = Duration.ofSeconds(5);

    /** How long a question stays suspended. One that is always too expensive runs for about 1 % of the time. */
    static final Duration REST = Duration.ofMinutes(10);

    private final double percent;
    private final Supplier<Map<String, Exported>> questions;
    private final BooleanSupplier measured;
    private final LongSupplier nanoTime;
    private final CountDownLatch closing = new CountDownLatch(1);

    /** The run times at the last check. */
    private Map<Exported, Duration> before = new HashMap<>();

    private long lastLook;

    private final Map<Exported, Long> suspended = new HashMap<>();

    private Optional<Thread> thread = Optional.empty();

    /**
     * The processor time of a question since the last check.
     *
     * @param percent of one processor
     */
    private record Share(Exported question, double percent) {}

    CpuBudget(
            double percent,
            Supplier<Map<String, Exported>> questions,
            BooleanSupplier measured,
            LongSupplier nanoTime) {
        this.percent = percent;
        this.questions = questions;
        this.measured = measured;
        this.nanoTime = nanoTime;
        this.lastLook = nanoTime.getAsLong();
    }

    /**
     * Checks the questions every five seconds, until it is closed.
     *
     * @param percent of one processor; may be more than 100
     * @param questions the current questions, by their names
     * @param measured whether the kernel measures BPF programs now; if not, their run times are unknown, and nothing is
     *     suspended
     */
    public static CpuBudget start(
            double percent, Supplier<Map<String, Exported>> questions, BooleanSupplier measured, Console console) {
        CpuBudget budget = new CpuBudget(percent, questions, measured, System::nanoTime);
        Thread looking = new Thread(() -> budget.run(console), "bpf4j budget");
        looking.setDaemon(true);
        looking.start();
        budget.thread = Optional.of(looking);
        return budget;
    }

    private void run(Console console) {
        String reported = "";
        try {
            while (!closing.await(INTERVAL.toNanos(), TimeUnit.NANOSECONDS)) {
                try {
                    look();
                } catch (RuntimeException e) {
                    // The next check may succeed. If this thread ended, nothing would be suspended any more.
                    String problem = ErrorText.of(e);
                    if (!problem.equals(reported)) {
                        console.error("bpf4j: --max-cpu can't be checked: " + problem);
                        reported = problem;
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @throws RuntimeException if the run time of a question is unknown; the others have been checked */
    void look() {
        long now = nanoTime.getAsLong();
        long elapsed = now - lastLook;
        lastLook = now;
        Map<Exported, Duration> times = new HashMap<>();
        List<Share> shares = new ArrayList<>();
        List<Exported> all = List.copyOf(questions.get().values());
        List<RuntimeException> failures = new ArrayList<>();
        for (Exported question : all) {
            Optional<Usage> usage;
            try {
                usage = question.usage();
            } catch (RuntimeException e) {
                failures.add(e); // the run times of the others are known
                continue;
            }
            if (usage.isEmpty() || !measured.getAsBoolean() || question.isSuspended()) {
                continue;
            }
            Duration time = usage.get().runTime();
            times.put(question, time);
            Duration known = before.get(question);
            if (known != null && elapsed > 0) {
                shares.add(new Share(question, 100.0 * time.minus(known).toNanos() / elapsed));
            }
        }
        before = times;
        goOn(all, now);
        suspend(shares);
        if (!failures.isEmpty()) {
            throw failures.getFirst();
        }
    }

    /** Resumes the questions that have been suspended for long enough. */
    private void goOn(List<Exported> all, long now) {
        suspended.keySet().removeIf(question -> !all.contains(question) || !question.isSuspended());
        for (Exported question : all) {
            if (question.isSuspended() && now - suspended.computeIfAbsent(question, _ -> now) >= REST.toNanos()) {
                question.resume();
            }
        }
    }

    private void suspend(List<Share> shares) {
        double sum = shares.stream().mapToDouble(Share::percent).sum();
        double left = sum;
        for (Share share : shares.stream()
                .sorted(Comparator.comparingDouble(Share::percent).reversed())
                .toList()) {
            if (left <= percent) {
                break;
            }
            left -= share.percent;
            share.question.suspend(String.format(
                    Locale.ROOT,
                    "suspended: its BPF programs took %.3g %% of a processor, those of all questions %.3g %%, and --max-cpu"
                            + " is %s; it resumes at SIGHUP, or after %d minutes",
                    share.percent,
                    sum,
                    percent,
                    REST.toMinutes()));
        }
    }

    @Override
    public void close() {
        closing.countDown();
        thread.ifPresent(Threads::join);
    }
}
