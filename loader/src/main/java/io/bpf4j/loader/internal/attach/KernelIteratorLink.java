package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.link.IteratorLink;
import java.io.InputStream;

/** An iterator in the kernel. <i>Thread-safe.</i> */
final class KernelIteratorLink extends KernelLink implements IteratorLink {
    KernelIteratorLink(Kernel kernel, String description, Fd link) {
        super(kernel, description, link);
    }

    @Override
    public InputStream open() {
        return new IterStream(kernel(), kernel().execute(new LinkCommand.CreateIter(fd())));
    }
}
