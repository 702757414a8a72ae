package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.loader.host.Host;
import io.bpf4j.trace.stack.PerfMap;
import io.bpf4j.trace.stack.Symbolizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Asks JVMs for the names of the methods that they have compiled, so that frames of these methods have names. A JVM
 * writes them to {@code /tmp/perf-PID.map}, and only when it is asked. <i>Confined.</i>
 *
 * <p>Each JVM is asked once between two calls of {@link #forget}. Asking starts a {@code jcmd}, a stopped JVM never
 * answers, and anybody can start processes that look like JVMs. So the number of JVMs that are asked between two calls,
 * and the time for all of them, are bounded.
 *
 * <p>Tested by {@code CliStackTest}.
 */
final class JvmNames {
    private static final int MOST_JVMS = 64;

    /** After this time no other JVM is asked. The last one may take half a minute more. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Console console;
    private final Symbolizer symbolizer;
    private final Host host = Host.running();
    private final Set<Integer> asked = new HashSet<>();
    private int jvmsLeft = MOST_JVMS;
    private long nanosLeft = PATIENCE.toNanos();
    private boolean complained;

    JvmNames(Console console, Symbolizer symbolizer) {
        this.console = console;
        this.symbolizer = symbolizer;
    }

    /** Makes {@link #ask} ask all JVMs again, because they may have compiled more. */
    void forget() {
        asked.clear();
        jvmsLeft = MOST_JVMS;
        nanosLeft = PATIENCE.toNanos();
    }

    /**
     * Asks the JVMs among some processes that have not been asked yet. As root this process may ask all, else those of
     * the same user.
     *
     * @param pids the processes, those first whose names matter most
     */
    void ask(Collection<Integer> pids) {
        int left = 0;
        for (int pid : pids) {
            if (!asked.add(pid) || !mayAsk(pid)) {
                continue;
            }
            if (jvmsLeft == 0 || nanosLeft <= 0) {
                left++;
                continue;
            }
            jvmsLeft--;
            long start = System.nanoTime();
            try {
                PerfMap.request(host, pid);
                symbolizer.remember(pid);
            } catch (IOException e) {
                complain(pid, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            nanosLeft -= System.nanoTime() - start;
        }
        if (left > 0) {
            console.remark("compiled Java methods of " + Scans.count(left, "JVM")
                    + " may have no names: there are too many JVMs to ask each");
        }
    }

    /**
     * Reports the first failure only, because others usually have the same cause. A JVM that has ended is not a
     * failure.
     */
    private void complain(int pid, IOException failure) {
        if (!complained && host.isRunning(pid)) {
            complained = true;
            console.remark("frames of compiled Java methods may have no names: " + failure.getMessage());
        }
    }

    private boolean mayAsk(int pid) {
        try {
            int own = user(host.self());
            return (own == 0 || own == user(host.process(pid))) && PerfMap.isJvm(host, pid);
        } catch (IOException | UnsupportedOperationException e) {
            return false; // the process has ended, or this user may not read its mappings
        }
    }

    private static int user(Path process) throws IOException {
        return (Integer) Files.getAttribute(process, "unix:uid");
    }
}
