package io.bpf4j.loader.process;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Ptrace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What /proc tells of processes and threads now. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code TracerThreadTest} and {@code ProcessTracerTest}.
 */
record ProcessFiles(Host host) {
    /** A thread that receives a SIGURG at once. */
    record Wakeable(int pid, int tid) {}

    /** Threads of processes that do not block SIGURG and are not stopped. */
    List<Wakeable> wakeable(Set<Integer> pids) {
        List<Wakeable> threads = new ArrayList<>();
        for (int pid : pids) {
            for (int tid : threadsOf(pid)) {
                String status = status(tid);
                String state = field(status, "State");
                String blocked = field(status, "SigBlk");
                if (!state.isEmpty()
                        && "RSD".indexOf(state.charAt(0)) >= 0
                        && !blocked.isEmpty()
                        && (Long.parseUnsignedLong(blocked, 16) & 1L << (Ptrace.SIGURG - 1)) == 0) {
                    threads.add(new Wakeable(pid, tid));
                }
            }
        }
        return threads;
    }

    /** The process of a thread; the thread itself if it is gone. */
    int processOf(int tid) {
        String pid = field(status(tid), "Tgid");
        return pid.isEmpty() ? tid : Integer.parseInt(pid);
    }

    /** The threads of a process; none if it is gone. */
    List<Integer> threadsOf(int pid) {
        List<Integer> threads = new ArrayList<>();
        try (DirectoryStream<Path> tasks =
                Files.newDirectoryStream(host.process(pid).resolve("task"))) {
            tasks.forEach(task -> threads.add(Integer.parseInt(String.valueOf(task.getFileName()))));
        } catch (IOException | RuntimeException e) {
            return threads; // gone, perhaps while it was read
        }
        return threads;
    }

    /** Whether a signal has stopped a process. */
    boolean isStopped(int pid) {
        return field(status(pid), "State").startsWith("T");
    }

    /** Whether a thread of this process traces it. */
    boolean isTracedByThisProcess(int tid) {
        String tracer = field(status(tid), "TracerPid");
        return !tracer.isEmpty() && Files.isDirectory(host.proc().resolve("self/task/" + tracer));
    }

    private String status(int tid) {
        try {
            return Files.readString(host.process(tid).resolve("status"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }

    private static String field(String status, String name) {
        return status.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("");
    }
}
