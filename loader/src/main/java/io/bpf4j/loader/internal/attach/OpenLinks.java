package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.attach.LinkView.Opener;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Opens links that exist already: pinned links, and links of other processes. */
public final class OpenLinks {
    private OpenLinks() {}

    public static Link pinned(Kernel kernel, Path path) {
        return adopt(kernel, "link pinned at " + path, BpfFs.open(kernel, path, ObjectCommand.Kind.LINK, 0));
    }

    public static Link byId(Kernel kernel, int id) {
        return adopt(kernel, "link " + id, kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.LINK, id)));
    }

    /** Takes over a descriptor of the caller. */
    public static Link takeOver(Kernel kernel, int number) {
        return OwnDescriptor.takeOver(
                kernel, number, ObjectCommand.Kind.LINK, fd -> adopt(kernel, "link of descriptor " + number, fd));
    }

    /** Opens a link as its own Java type, because some kinds have more operations. Takes ownership. */
    private static Link adopt(Kernel kernel, String description, Fd owned) {
        return owned.ownedBy(link -> {
            int type = kernel.execute(new ObjectCommand.InfoOfLink(link)).type();
            return LinkKinds.view(type)
                    .<Opener>map(LinkView::opener)
                    .orElse(KernelLink::new)
                    .open(kernel, description, link);
        });
    }

    /**
     * Takes over all perf events and links that a process has open.
     *
     * @return the links, which the caller must close
     */
    public static LinkGroup ofProcess(Host host, int pid) throws IOException {
        Kernel kernel = Kernel.of(host);
        LinkGroup taken = LinkGroup.inSequence("links of process " + pid);
        try (Fd process = kernel.execute(new FileCommand.OpenProcess(pid))) {
            for (int descriptor : descriptors(host, pid)) {
                take(kernel, process, descriptor, taken);
            }
            return taken;
        } catch (RuntimeException | Error | IOException e) {
            taken.closeAfter(e);
            throw e;
        }
    }

    /** The descriptors of a process that are perf events or BPF links. */
    static List<Integer> descriptors(Host host, int pid) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        try (DirectoryStream<Path> descriptors =
                Files.newDirectoryStream(host.proc().resolve(pid + "/fd"))) {
            for (Path descriptor : descriptors) {
                if (isLink(descriptor)) {
                    numbers.add(Integer.parseInt(String.valueOf(descriptor.getFileName())));
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return numbers;
    }

    private static boolean isLink(Path descriptor) {
        try {
            String name = Files.readSymbolicLink(descriptor).toString();
            // kernel/events/core.c passes this name to anon_inode_getfile().
            return name.equals("anon_inode:[perf_event]")
                    || ObjectCommand.Kind.of(name).equals(Optional.of(ObjectCommand.Kind.LINK));
        } catch (IOException e) {
            return false; // Closed since the directory was read.
        }
    }

    private static void take(Kernel kernel, Fd process, int number, LinkGroup taken) {
        try {
            Fd fd = kernel.execute(new FileCommand.TakeDescriptor(process, number));
            LinkGroup link = LinkGroup.inSequence(fd.description());
            link.afterClose(fd::close);
            taken.add(link);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EBADF) {
                throw e;
            }
        }
    }
}
