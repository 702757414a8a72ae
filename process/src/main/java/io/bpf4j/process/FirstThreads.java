package io.bpf4j.process;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Finds traced processes whose first thread has ended while others run. The kernel identifies a traced process by its
 * first thread, and finds the memory to probe through this thread ({@code uprobe_perf_filter} in
 * kernel/trace/trace_uprobe.c, {@code uprobe_multi_link_filter} in kernel/trace/bpf_trace.c): when that thread has
 * ended it installs no probe in the process any more, and a perf uprobe removes those that are hit. The files that such
 * a process has mapped can't be read by its number either. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliFirstThreadTest} and {@code FirstThreadsTest}.
 */
public final class FirstThreads {
    private static final int MAX_NAMED = 5;

    /** The minimum time between two checks, as a multiple of the duration of a check. */
    private static final int REST_FACTOR = 10;

    /**
     * Maximum duration of execve(2) in a thread other than the first, on a busy machine, in nanoseconds. Only the clock
     * tells whether a last thread is in execve: /proc shows the system call of a thread only while it sleeps, and by a
     * number that depends on the machine.
     */
    private static final long MAX_EXEC_NANOS = 2_000_000_000;

    /** include/linux/sched.h of the kernel. */
    private static final long PF_EXITING = 4;

    /** The bit of SIGKILL, signal 9, in a set of signals. */
    private static final long SIGKILL = 1 << 8;

    private final boolean removesProbes;
    private final Set<Integer> processes = ConcurrentHashMap.newKeySet();

    /** The processes whose first thread has ended. */
    private final Map<Integer, Detection> ended = new TreeMap<>();

    private long nextCheck = System.nanoTime();

    /**
     * The end of a first thread was detected.
     *
     * @param nanos when
     * @param byItself whether the thread has certainly not been ended by an execve(2)
     */
    private record Detection(long nanos, boolean byItself) {}

    /** @param removesProbes whether probes that were installed before are removed, because they are perf uprobes */
    public FirstThreads(boolean removesProbes) {
        this.removesProbes = removesProbes;
    }

    /** Adds a traced process; to be called again when the process has executed another program. */
    public synchronized void add(int pid) {
        processes.add(pid);
        removeIfRecent(pid);
    }

    /**
     * While a thread other than the first calls execve(2), the first thread ends, and then the calling thread takes
     * over its id: in between, the first thread appears to have ended. All other threads are killed before
     * (zap_other_threads in kernel/signal.c), so this is not the case if two were running.
     */
    private void removeIfRecent(int pid) {
        Detection detected = ended.get(pid);
        if (detected != null && !detected.byItself() && System.nanoTime() - detected.nanos() < MAX_EXEC_NANOS) {
            ended.remove(pid);
        }
    }

    /** A process has ended. */
    public void remove(int pid) {
        processes.remove(pid);
    }

    /** How many processes were added and have not been removed. */
    public int count() {
        return processes.size();
    }

    /** Checks all processes, unless the last check was recent compared with its duration. */
    public synchronized void look() {
        long began = System.nanoTime();
        if (began - nextCheck >= 0) {
            checkNow();
            nextCheck = System.nanoTime() + REST_FACTOR * (System.nanoTime() - began);
        }
    }

    private void checkNow() {
        for (int pid : processes) {
            long others = othersRunning(pid);
            if (others > 0) {
                detected(pid, others > 1);
            } else if (ended.containsKey(pid) && hasFirst(pid)) {
                removeIfRecent(pid);
            }
        }
    }

    private void detected(int pid, boolean byItself) {
        Detection before = ended.get(pid);
        if (before != null) {
            ended.put(pid, new Detection(before.nanos(), before.byItself() || byItself));
        } else if (ended.size() <= MAX_NAMED) {
            ended.put(pid, new Detection(System.nanoTime(), byItself));
        }
    }

    /** Whether the first thread of a process has ended, and another one runs. */
    public static boolean hasEnded(int pid) {
        return othersRunning(pid) > 0;
    }

    /**
     * How many threads run in a process whose first thread has ended; 0 if the first one runs. In a process that ends
     * by exit_group(2) the threads end one after the other, so threads that are about to end do not count. Counted
     * twice: /proc shows neither a pending signal nor PF_EXITING of a thread that has dequeued its signal and not
     * started to exit.
     *
     * @return at most 2
     */
    private static long othersRunning(int pid) {
        long first = countWithoutFirst(pid);
        return first == 0 ? 0 : Math.min(first, countWithoutFirst(pid));
    }

    /** Whether the first thread of a process runs. */
    private static boolean hasFirst(int pid) {
        String state = StatusFile.readIfRunning(Host.running().process(pid)).field("State");
        return !state.isEmpty() && !state.startsWith("Z") && !state.startsWith("X");
    }

    private static long countWithoutFirst(int pid) {
        Path tasks = Host.running().process(pid).resolve("task");
        if (!StatusFile.readIfRunning(tasks.resolve(Integer.toString(pid)))
                .field("State")
                .startsWith("Z")) {
            return 0;
        }
        try (Stream<Path> threads = Files.list(tasks)) {
            return threads.filter(FirstThreads::isRunning).limit(2).count();
        } catch (IOException | UncheckedIOException e) {
            return 0; // the process has ended
        }
    }

    private static boolean isRunning(Path thread) {
        StatusFile status = StatusFile.readIfRunning(thread);
        String state = status.field("State");
        String pending = status.field("SigPnd");
        if (state.isEmpty() || state.startsWith("Z") || state.startsWith("X") || pending.isEmpty()) {
            return false;
        }
        boolean isKilled = (Long.parseUnsignedLong(pending, 16) & SIGKILL) != 0;
        return !isKilled && (flags(thread) & PF_EXITING) == 0;
    }

    /** The ninth number of proc_pid_stat(5), the seventh after the name; PF_EXITING if the thread has ended. */
    private static long flags(Path thread) {
        String stat = text(thread.resolve("stat"));
        String[] numbers = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
        return numbers.length > 6 ? Long.parseLong(numbers[6]) : PF_EXITING;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    /** Checks once more, and describes the gaps: one for each process, which is the subject. */
    public synchronized List<Diagnostic> gaps() {
        checkNow();
        List<Diagnostic> gaps = new ArrayList<>(
                ended.keySet().stream().limit(MAX_NAMED).map(this::gap).toList());
        if (ended.size() > MAX_NAMED) {
            gaps.add(new Diagnostic(Kind.NOT_ATTACHED, "", "the same happened in further processes"));
        }
        return gaps;
    }

    private Diagnostic gap(int pid) {
        return new Diagnostic(
                Kind.NOT_ATTACHED,
                "process " + pid,
                "the first thread of process " + pid + " ended before the others: the kernel then"
                        + (removesProbes
                                ? " removes the process's probes (--strategy cookie and ipmap, and kernels before 6.6)"
                                : " installs no more probes in the process, and files that it maps later are not"
                                        + " found"));
    }
}
