package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RawLinkInfo.TextField;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One kernel link, and the perf event that it needs, if any. <i>Thread-safe.</i> */
class KernelLink extends OwnedLink {
    private final Fd fd;

    /** Takes ownership of a link, and of the resources that are closed after it. */
    KernelLink(Kernel kernel, String description, Fd fd, Fd... afterwards) {
        super(kernel, description);
        this.fd = fd;
        for (Fd other : afterwards) {
            resources.afterClose(other::close);
        }
        resources.afterClose(fd::close);
    }

    /** Takes ownership of a link, and of the resources that are closed after it. */
    static KernelLink of(AttachRequest request, Fd link, Fd... afterwards) {
        return new KernelLink(request.kernel(), request.description(), link, afterwards);
    }

    /**
     * The implementation of a public link.
     *
     * @throws IllegalArgumentException if it is not a single kernel link
     */
    static KernelLink of(Link link) {
        if (link instanceof KernelLink own) {
            return own;
        }
        throw new IllegalArgumentException(link.description() + " is not a single link of the kernel");
    }

    /** This link closes it. */
    Fd fd() {
        return fd;
    }

    @Override
    public LinkInfo info() {
        var info = withText(kernel.execute(new ObjectCommand.InfoOfLink(fd)));
        return new LinkInfo(info.id(), info.type(), info.programId(), LinkKinds.detail(info));
    }

    /** Whether a link has a text depends on its type, so this needs two queries. */
    private RawLinkInfo withText(RawLinkInfo withoutText) {
        TextField text = LinkKinds.text(withoutText);
        if (text == null) {
            return withoutText;
        }
        try {
            return kernel.execute(new ObjectCommand.InfoOfLink(fd, text));
        } catch (SyscallException e) {
            return withoutText; // A kernel without the field rejects it; the first answer has no text.
        }
    }

    @Override
    public List<Site> sites() {
        RawLinkInfo info = kernel.execute(new ObjectCommand.InfoOfLink(fd));
        RawLinkInfo.SiteFields fields =
                LinkKinds.view(info.type()).map(LinkView::sites).orElse(null);
        if (fields == null) {
            throw new UnsupportedOperationException(description + " is not a link of many uprobes or kprobes");
        }
        int count = info.u32(fields.layout(), fields.count());
        if (count == 0) {
            throw new UnsupportedOperationException("this kernel does not report the sites of " + description
                    + ": that needs Linux 6.8 for uprobes and 6.6 for kprobes");
        }
        List<long[]> arrays = kernel.execute(new ObjectCommand.SitesOfLink(fd, fields, count));
        long[] places = arrays.getFirst();
        long[] cookies = arrays.getLast();
        return IntStream.range(0, count)
                .mapToObj(i -> new Site(places[i], arrays.size() == 3 ? arrays.get(1)[i] : 0, cookies[i]))
                .toList();
    }

    @Override
    public void update(ProgramHandle program) {
        update(AttachRequest.fd(program), null);
    }

    @Override
    public void update(ProgramHandle program, ProgramHandle expected) {
        update(AttachRequest.fd(program), AttachRequest.fd(expected));
    }

    void update(Fd replacement, @Nullable Fd expected) {
        try {
            kernel.execute(new LinkCommand.Update(fd, replacement, expected, 0));
        } catch (SyscallException e) {
            throw new AttachException(
                    "update " + description + " to " + replacement.description() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void detach() {
        try {
            kernel.execute(new LinkCommand.Detach(fd));
        } catch (SyscallException e) {
            throw new AttachException("detach " + description + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void pin(Path path) {
        BpfFs.pin(kernel, fd, path);
    }

    @Override
    public boolean unpin(Path path) {
        return BpfFs.unpin(kernel, fd, ObjectCommand.Kind.LINK, path);
    }

    @Override
    public Descriptor descriptor() {
        return OwnDescriptor.of(kernel, fd);
    }
}
