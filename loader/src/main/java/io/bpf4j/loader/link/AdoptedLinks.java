package io.bpf4j.loader.link;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.kernel.Errno;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Takes over the links of another process, so that it can end before the kernel has detached them (Linux 5.6).
 *
 * <p>The kernel detaches a perf uprobe when its last file descriptor is closed. This takes a tenth of a second for
 * each, one after the other. A process that ends closes its descriptors first, so it has to wait as well. If a second
 * process holds the same descriptors, the first process ends at once, and the second one waits instead. Until then the
 * programs stay attached and run.
 *
 * <p>Taking descriptors needs the rights of a debugger: the same user and the conditions of Yama's {@code
 * ptrace_scope}, or CAP_SYS_PTRACE.
 */
public final class AdoptedLinks {
    private AdoptedLinks() {}

    /**
     * Takes all perf events and BPF links that a process has open. Descriptors that the process closes meanwhile are
     * skipped.
     *
     * @return a link for each descriptor: one for a multi link, two for a perf uprobe with a link. Closing the group
     *     waits until the kernel has detached the links that no other process holds
     * @throws IOException if the process's descriptors can't be listed
     * @throws SyscallException if taking them is not permitted; no descriptor is taken then
     */
    public static LinkGroup of(int pid) throws IOException {
        return of(Host.running(), pid);
    }

    static LinkGroup of(Host host, int pid) throws IOException {
        Kernel kernel = host.kernel();
        LinkGroup taken = LinkGroup.inSequence("links of process " + pid);
        try (Fd process = kernel.execute(new FileCommand.OpenProcess(pid));
                DirectoryStream<Path> descriptors =
                        Files.newDirectoryStream(host.proc().resolve(pid + "/fd"))) {
            for (Path descriptor : descriptors) {
                if (isLink(descriptor)) {
                    take(kernel, process, Integer.parseInt(String.valueOf(descriptor.getFileName())), taken);
                }
            }
            return taken;
        } catch (RuntimeException | IOException e) {
            taken.closeAfter(e);
            throw e;
        }
    }

    private static boolean isLink(Path descriptor) {
        try {
            String what = Files.readSymbolicLink(descriptor).toString();
            // The names passed to anon_inode_getfile in kernel/events/core.c and kernel/bpf/syscall.c.
            return what.equals("anon_inode:[perf_event]") || what.equals("anon_inode:bpf_link");
        } catch (IOException e) {
            return false; // Closed since the directory was read.
        }
    }

    private static void take(Kernel kernel, Fd process, int number, LinkGroup taken) {
        try {
            Fd fd = kernel.execute(new FileCommand.TakeDescriptor(process, number));
            LinkGroup link = LinkGroup.inSequence(fd.what());
            link.afterClose(fd::close);
            taken.add(link);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EBADF) {
                throw e;
            }
        }
    }
}
