package io.bpf4j.process;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Threads, children and status of processes, by their numbers. For a process or thread that has ended, also while it is
 * read, the result is empty.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code ProcessTreeTest}, {@code TracerThreadTest} and {@code ProcessTracerTest}.
 *
 * @param host the machine that the processes run on
 */
public record Tasks(Host host) {
    private static final long FORKED_WITHOUT_EXEC = 0x40;

    /** The threads of a process; empty if it has ended. */
    public List<Integer> threadsOf(int pid) {
        return numbers(host.proc().resolve(pid + "/task"));
    }

    /**
     * The children of a process, in no order; empty if it has ended. They are in {@code /proc/PID/task/TID/children},
     * because any thread may fork (proc(5); Linux 4.2 with CONFIG_PROC_CHILDREN, which all distributions set). If the
     * kernel has no such file, the parents of all processes are read instead.
     */
    public List<Integer> childrenOf(int pid) {
        List<Integer> threads = threadsOf(pid);
        List<Integer> children = new ArrayList<>();
        boolean known = threads.isEmpty();
        for (int tid : threads) {
            Path file = host.proc().resolve(pid + "/task/" + tid + "/children");
            if (Files.exists(file)) {
                known = true;
                addAll(text(file), children);
            }
        }
        String parent = Integer.toString(pid);
        return known
                ? children
                : numbers(host.proc()).stream()
                        .filter(process -> status(process, "PPid").equals(parent))
                        .toList();
    }

    private static void addAll(String line, List<Integer> children) {
        for (String word : line.strip().split(" +", -1)) {
            if (!word.isEmpty()) {
                children.add(Integer.parseInt(word));
            }
        }
    }

    /** The value of a field in the status of a process or thread, such as {@code Tgid}; empty if it has ended. */
    public String status(int tid, String field) {
        return StatusFile.readIfRunning(host.process(tid)).field(field);
    }

    /**
     * The start time of a process or thread, in clock ticks since the boot of the machine; empty if it has ended. In
     * {@code /proc/PID/stat} the name is in parentheses and may contain any bytes; the last parenthesis is followed by
     * numbers, of which this is the twentieth (proc_pid_stat(5)).
     */
    public OptionalLong start(int tid) {
        return statNumber(tid, 19);
    }

    /** Whether a process has called exec since it was forked: it lacks PF_FORKNOEXEC of include/linux/sched.h. */
    public boolean hasExecuted(int pid) {
        OptionalLong flags = statNumber(pid, 6);
        return flags.isPresent() && (flags.getAsLong() & FORKED_WITHOUT_EXEC) == 0;
    }

    private OptionalLong statNumber(int tid, int index) {
        String stat = text(host.proc().resolve(tid + "/stat"));
        String[] numbers = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
        return numbers.length > index ? OptionalLong.of(Long.parseLong(numbers[index])) : OptionalLong.empty();
    }

    /** Whether a process has a thread that has not ended. The first thread may end before others, as a zombie. */
    public boolean isRunning(int pid) {
        return !hasEnded(pid) || threadsOf(pid).size() > 1;
    }

    /**
     * Whether two processes share their memory, as a child and its parent do between vfork and exec: kcmp(2) of Linux
     * 3.5. Also false if the kernel can't compare them: without CONFIG_KCMP, if this process may not trace both, or if
     * one has ended.
     */
    public boolean haveSameMemory(int pid, int other) {
        return Kernel.of(host).execute(new ProcessCommand.SameMemory(pid, other));
    }

    /**
     * Whether a thread is gone, or a zombie, which no parent or tracer has waited for yet. A status that can't be read,
     * for instance because this process has no descriptor left, is no end.
     */
    public boolean hasEnded(int tid) {
        String state = status(tid, "State");
        return state.isEmpty() ? !Files.exists(host.process(tid)) : state.startsWith("Z") || state.startsWith("X");
    }

    private static List<Integer> numbers(Path directory) {
        List<Integer> numbers = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[0-9]*")) {
            entries.forEach(entry -> numbers.add(Integer.parseInt(String.valueOf(entry.getFileName()))));
        } catch (IOException | RuntimeException e) {
            return numbers; // the process has ended, perhaps while it was read
        }
        return numbers;
    }

    private static String text(Path file) {
        try {
            // The name of a process may contain any bytes.
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
