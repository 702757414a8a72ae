package io.bpf4j.cli.trace;

import io.bpf4j.loader.host.Host;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Finds traced processes whose first thread has ended while others run. The kernel knows a traced process by its first
 * thread, and finds the memory that gets probes through it ({@code uprobe_perf_filter} in kernel/trace/trace_uprobe.c,
 * {@code uprobe_multi_link_filter} in kernel/trace/bpf_trace.c): when that thread has ended it installs no probe in the
 * process any more, and a perf uprobe removes those that are hit. The files that such a process has mapped can't be read
 * by its number either. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliFirstThreadTest}.
 */
public final class FirstThreads {
    private static final int MAX_NAMED = 5;

    /** A look may take this part of the time: a tenth. */
    private static final int REST_FACTOR = 10;

    private final boolean removesProbes;
    private final Set<Integer> processes = ConcurrentHashMap.newKeySet();
    private final Set<Integer> ended = new TreeSet<>();
    private long due = System.nanoTime();

    /** @param removesProbes whether probes that were installed before are removed, because they are perf uprobes */
    public FirstThreads(boolean removesProbes) {
        this.removesProbes = removesProbes;
    }

    /** Adds a traced process. */
    public void add(int pid) {
        processes.add(pid);
    }

    /** A process has ended. */
    public void remove(int pid) {
        processes.remove(pid);
    }

    /** Looks at all processes, unless that was done a moment ago and takes long. */
    public synchronized void look() {
        long began = System.nanoTime();
        if (began - due >= 0) {
            lookNow();
            due = System.nanoTime() + REST_FACTOR * (System.nanoTime() - began);
        }
    }

    private void lookNow() {
        for (int pid : processes) {
            if (ended.size() <= MAX_NAMED && hasEnded(pid)) {
                ended.add(pid);
            }
        }
    }

    /** Whether the first thread of a process has ended, and another one has not. */
    public static boolean hasEnded(int pid) {
        try {
            // Not lines(): the name of a process may contain a carriage return.
            String[] status = Files.readString(
                            Host.running().process(pid).resolve("status"), StandardCharsets.ISO_8859_1)
                    .split("\n", -1);
            return Stream.of(status).anyMatch(line -> line.startsWith("State:\tZ"))
                    && Host.running().isRunning(pid);
        } catch (IOException e) {
            return false; // the process has ended
        }
    }

    /** Looks once more. What is missing, one sentence for each process, without a full stop. */
    public synchronized List<String> gaps() {
        lookNow();
        List<String> gaps =
                new ArrayList<>(ended.stream().limit(MAX_NAMED).map(this::gap).toList());
        if (ended.size() > MAX_NAMED) {
            gaps.add("the same of further processes");
        }
        return gaps;
    }

    private String gap(int pid) {
        return "the first thread of process " + pid + " ended before the others: the kernel then"
                + (removesProbes
                        ? " removes the process's probes (--strategy cookie and ipmap, and kernels before 6.6)"
                        : " installs no more probes in the process, and files that it maps later are not found");
    }
}
