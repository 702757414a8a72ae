package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.loader.error.SyscallException;
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
 * writes them to {@code /tmp/perf-PID.map}, and only when it is asked; the file is removed when it has been read.
 * <i>Confined.</i>
 *
 * <p>Each JVM is asked once between two calls of {@link #forget}. A JVM may be too busy to answer, and anybody can start
 * processes that look like JVMs and never answer. So the number of JVMs that are asked between two calls, and the time
 * for all of them, are bounded.
 *
 * <p>Tested by {@code CliStackTest} and {@code HostileJvmsTest}.
 */
final class JvmNames {
    private static final int MOST_JVMS = 64;

    /** The time for all JVMs, as a multiple of the time for one. */
    private static final int MOST_SILENT = 4;

    private final Console console;
    private final Symbolizer symbolizer;
    private final Host host = Host.running();
    private final Set<Integer> asked = new HashSet<>();
    private int jvmsLeft = MOST_JVMS;
    private final Duration patience;
    private final boolean verbose;
    private long nanosLeft;
    private boolean complained;

    /**
     * @param patience how long to wait for the answer of one JVM; zero to ask none
     * @param verbose whether to tell which JVMs are asked
     */
    JvmNames(Console console, Symbolizer symbolizer, Duration patience, boolean verbose) {
        this.console = console;
        this.symbolizer = symbolizer;
        this.patience = patience;
        this.verbose = verbose;
        this.nanosLeft = MOST_SILENT * patience.toNanos();
    }

    /** Makes {@link #ask} ask all JVMs again, because they may have compiled more. */
    void forget() {
        asked.clear();
        jvmsLeft = MOST_JVMS;
        nanosLeft = MOST_SILENT * patience.toNanos();
    }

    /**
     * Asks the JVMs among some processes that have not been asked yet. As root this process may ask all, else those of
     * the same user.
     *
     * @param pids the processes, those first whose names matter most
     */
    void ask(Collection<Integer> pids) {
        if (patience.isZero()) {
            return;
        }
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
            if (verbose) {
                console.error("bpf4j: asking the JVM " + pid + " for its compiled methods, by its attach mechanism");
            }
            try (PerfMap _ = PerfMap.request(host, pid, patience)) {
                symbolizer.remember(pid);
            } catch (IOException | SyscallException e) {
                complain(pid, e);
            }
            nanosLeft -= System.nanoTime() - start;
        }
        if (left > 0) {
            console.remark("compiled Java methods of " + Scans.count(left, "JVM")
                    + " may have no names: there are too many JVMs to ask each, or they do not answer");
        }
    }

    /**
     * Reports the first failure only, because others usually have the same cause. A JVM that has ended is not a
     * failure.
     */
    private void complain(int pid, Exception failure) {
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
