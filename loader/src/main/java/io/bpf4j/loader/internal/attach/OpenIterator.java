package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import java.io.InputStream;

/** The link of an iterator program. <i>Thread-safe.</i> */
public final class OpenIterator extends KernelLink implements IteratorLink {
    OpenIterator(Kernel kernel, String description, Fd link) {
        super(kernel, description, link);
    }

    @Override
    public InputStream open() {
        return new IterStream(kernel(), kernel().execute(new LinkCommand.CreateIter(fd())));
    }
}
