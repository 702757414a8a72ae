package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.Console;
import io.bpf4j.loader.link.Link.Closing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits until probes are detached, and shows the progress if this takes long.
 *
 * <p>If each site has a perf event of its own, the kernel detaches one after the other, in about a tenth of a second
 * each. The count shows the user that the command does not hang. A second Ctrl-C ends the wait.
 *
 * <p>Tested by {@code CliStrategyTest}.
 */
public final class Detachment {
    private static final Duration QUIET = Duration.ofMillis(500);
    private static final Duration STEP = Duration.ofSeconds(1);

    private Detachment() {}

    /**
     * Waits until all links are closed.
     *
     * @param meanwhile called repeatedly during the wait
     * @return whether all probes are detached; false if the user ended the wait
     */
    public static boolean await(List<Closing> all, Console console, Interruption interruption, Runnable meanwhile) {
        List<CompletableFuture<Void>> each =
                all.stream().map(Closing::toCompletableFuture).toList();
        CompletableFuture<Void> done = CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
        boolean announced = false;
        Duration step = QUIET;
        interruption.beginWait();
        try {
            while (!await(done, step, interruption, meanwhile)) {
                if (interruption.impatient()) {
                    leave(left(all), total(all), console);
                    return false;
                }
                console.error("bpf4j: detaching " + left(all) + " of " + total(all) + " …"
                        + (announced ? "" : " (Ctrl-C again ends bpf4j)"));
                announced = true;
                step = STEP;
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            interruption.endWait();
            each.stream()
                    .filter(CompletableFuture::isCompletedExceptionally)
                    .forEach(one -> console.error(
                            "bpf4j: detaching failed: " + one.exceptionNow().getMessage()));
        }
    }

    /** A second signal only changes the {@link Interruption}, so this thread polls it in small steps. */
    private static boolean await(
            CompletableFuture<Void> done, Duration atMost, Interruption interruption, Runnable meanwhile)
            throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (true) {
            try {
                done.get(20, TimeUnit.MILLISECONDS);
                return true;
            } catch (ExecutionException e) {
                return true; // each failure is reported at the end
            } catch (TimeoutException e) {
                meanwhile.run();
                if (interruption.impatient() || System.nanoTime() >= end) {
                    return false;
                }
            }
        }
    }

    private static void leave(int left, int total, Console console) {
        boolean taken = LinkHandover.takeOver().isPresent();
        console.error("bpf4j: " + left + " of " + total + " are still attached: "
                + (taken ? "another process detaches them" : "the kernel detaches them before this process ends"));
    }

    private static int left(List<Closing> all) {
        return all.stream().mapToInt(Closing::left).sum();
    }

    private static int total(List<Closing> all) {
        return all.stream().mapToInt(Closing::total).sum();
    }
}
