package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenProbe;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The descriptors of a process that are probes (bpf_task_fd_query() of kernel/bpf/syscall.c, 6.18).
 *
 * <p>Tested by {@code OpenProbesTest} and {@code OpenProbesOnKernelTest}.
 */
public final class OpenProbes {
    private OpenProbes() {}

    public static OpenProbe of(Host host, int pid, int descriptor) {
        return query(host, thread(host, pid), descriptor);
    }

    /** All probes of a process. Descriptors that the process closes meanwhile are skipped. */
    public static List<OpenProbe> all(Host host, int pid) throws IOException {
        List<OpenProbe> probes = new ArrayList<>();
        int thread = thread(host, pid);
        for (int descriptor : OpenLinks.descriptors(host, thread)) {
            try {
                probes.add(query(host, thread, descriptor));
            } catch (SyscallException e) {
                switch (e.errno()) {
                    // The descriptor is closed, has no program, or is a link or event of another kind.
                    case EBADF, ENOENT, ENOTSUPP, EOPNOTSUPP -> {}
                    default -> throw e;
                }
            }
        }
        return List.copyOf(probes);
    }

    /** A thread that has the descriptors of a process: a first thread that has ended before the others has none. */
    private static int thread(Host host, int pid) {
        Path process = host.process(pid);
        if (hasEnded(process)) {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
                for (Path thread : threads) {
                    if (!hasEnded(thread)) {
                        return Integer.parseInt(String.valueOf(thread.getFileName()));
                    }
                }
            } catch (IOException | DirectoryIteratorException e) {
                return pid; // the others have ended, too
            }
        }
        return pid;
    }

    private static boolean hasEnded(Path thread) {
        String state = StatusFile.readIfRunning(thread).field("State");
        return state.startsWith("Z") || state.startsWith("X");
    }

    private static OpenProbe query(Host host, int pid, int descriptor) {
        LinkCommand.TaskFdQuery.Probe answer = Kernel.of(host).execute(new LinkCommand.TaskFdQuery(pid, descriptor));
        return new OpenProbe(descriptor, answer.programId(), detail(answer));
    }

    /** The cases are those of {@code enum bpf_task_fd_type}. */
    private static LinkDetail detail(LinkCommand.TaskFdQuery.Probe answer) {
        int type = answer.type();
        return switch (type) {
            case 0 -> new LinkDetail.RawTracepoint(answer.text(), 0);
            case 1 -> new LinkDetail.Tracepoint(answer.text(), 0);
            case 2, 3 -> new LinkDetail.Kprobe(answer.text(), (int) answer.offset(), answer.address(), 0, type == 3, 0);
            case 4, 5 -> new LinkDetail.Uprobe(answer.text(), answer.offset(), 0, type == 5, 0);
            default -> new LinkDetail.Unknown("");
        };
    }
}
