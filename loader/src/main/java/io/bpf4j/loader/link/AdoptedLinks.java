package io.bpf4j.loader.link;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinuxKernel;
import io.bpf4j.loader.internal.sys.UndoStack;
import io.bpf4j.loader.kernel.Errno;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The links of another process that wants to end before the kernel has detached them (Linux 5.6). <i>Thread-safe.</i>
 *
 * <p>Perf uprobes are detached when the last descriptor of each is closed, a tenth of a second after the other; and a
 * process that ends closes its descriptors before it is gone, so ending is no way out of the wait. But if a second
 * process holds the same files, the first is not the last any more: it ends at once, and the second does the waiting,
 * where nobody sees it. Until then the programs stay attached and run.
 *
 * <p>Taking descriptors needs what a debugger needs: the same user, and what Yama's {@code ptrace_scope} asks for, or
 * CAP_SYS_PTRACE.
 */
public final class AdoptedLinks implements AutoCloseable {
    private final List<Fd> fds;

    private AdoptedLinks(List<Fd> fds) {
        this.fds = List.copyOf(fds);
    }

    /**
     * Takes all perf events and BPF links that a process has open. Those that it closes meanwhile are left out.
     *
     * @throws IOException if the process's descriptors can't be listed
     * @throws SyscallException if they may not be taken; none is then
     */
    public static AdoptedLinks of(int pid) throws IOException {
        return of(LinuxKernel.instance(), Path.of("/proc"), pid);
    }

    static AdoptedLinks of(Kernel kernel, Path proc, int pid) throws IOException {
        List<Fd> taken = new ArrayList<>();
        try (Fd process = kernel.execute(new FileCommand.OpenProcess(pid));
                DirectoryStream<Path> descriptors = Files.newDirectoryStream(proc.resolve(pid + "/fd"))) {
            for (Path descriptor : descriptors) {
                if (isLink(descriptor)) {
                    take(kernel, process, Integer.parseInt(String.valueOf(descriptor.getFileName())), taken);
                }
            }
            return new AdoptedLinks(taken);
        } catch (RuntimeException | IOException e) {
            UndoStack all = new UndoStack();
            taken.forEach(all::own);
            all.closeAfter(e);
            throw e;
        }
    }

    private static boolean isLink(Path descriptor) {
        try {
            String what = Files.readSymbolicLink(descriptor).toString();
            // The names that anon_inode_getfile gets in kernel/events/core.c and kernel/bpf/syscall.c.
            return what.equals("anon_inode:[perf_event]") || what.equals("anon_inode:bpf_link");
        } catch (IOException e) {
            return false; // Closed since the directory was read.
        }
    }

    private static void take(Kernel kernel, Fd process, int number, List<Fd> taken) {
        try {
            taken.add(kernel.execute(new FileCommand.TakeDescriptor(process, number)));
        } catch (SyscallException e) {
            if (e.errno() != Errno.EBADF) {
                throw e;
            }
        }
    }

    /** Descriptors held: one for a multi link, two for a perf uprobe with a link. */
    public int count() {
        return fds.size();
    }

    /** Closes them, and waits for the kernel to detach those that nobody else holds. */
    @Override
    public void close() {
        try (UndoStack all = new UndoStack()) {
            fds.forEach(all::own);
        }
    }
}
