package io.bpf4j.loader.internal.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The children of a process: {@code /proc/PID/task/TID/children}, because any thread may fork (proc(5); Linux 4.2 with
 * CONFIG_PROC_CHILDREN, which all distributions set). If the kernel has no such file, the parents of all processes are
 * read instead. <i>Immutable.</i>
 *
 * <p>Tested by {@code ProcessTreeTest}.
 */
public final class ProcessChildren {
    private final Path proc;

    /** @param proc the folder of the processes */
    public ProcessChildren(Path proc) {
        this.proc = proc;
    }

    /** The children that exist now, in no order; empty if the process has ended. */
    public List<Integer> of(int pid) {
        List<Integer> children = new ArrayList<>();
        boolean known = false;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(proc.resolve(pid + "/task"))) {
            for (Path thread : threads) {
                Path file = thread.resolve("children");
                if (Files.exists(file)) {
                    known = true;
                    addAll(read(file), children);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return known ? children : byParent(pid);
    }

    private static void addAll(String line, List<Integer> children) {
        for (String word : line.strip().split(" +", -1)) {
            if (!word.isEmpty()) {
                children.add(Integer.parseInt(word));
            }
        }
    }

    private List<Integer> byParent(int pid) {
        List<Integer> children = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                // 4711 (na) me) S 4242 …: state and parent follow the last parenthesis, because the name may contain
                // some.
                String stat = read(process.resolve("stat"));
                String[] fields =
                        stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", 3);
                if (fields.length == 3 && fields[1].equals(Integer.toString(pid))) {
                    children.add(Integer.parseInt(String.valueOf(process.getFileName())));
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return children;
    }

    /** Processes and threads may end while they are read. */
    private static String read(Path file) {
        try {
            // The name of a process may contain any bytes.
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
