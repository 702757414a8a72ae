package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.link.LinkGroup;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Takes over the perf events and links of another process. */
public final class AdoptedLinks {
    private AdoptedLinks() {}

    /**
     * Takes all of a process.
     *
     * @return the caller's to close
     */
    public static LinkGroup of(Host host, int pid) throws IOException {
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
