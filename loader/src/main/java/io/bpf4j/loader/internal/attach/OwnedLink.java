package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.sys.internal.call.Kernel;

/**
 * One attachment, with what is closed when it ends. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code KernelLinkTest}.
 */
abstract class OwnedLink implements Link {
    final Kernel kernel;
    final String description;

    /** What is closed, in reverse order. */
    final LinkGroup resources;

    OwnedLink(Kernel kernel, String description) {
        this.kernel = kernel;
        this.description = description;
        this.resources = LinkGroup.inSequence(description);
    }

    final Kernel kernel() {
        return kernel;
    }

    @Override
    public final String description() {
        return description;
    }

    @Override
    public final boolean isClosed() {
        return resources.isClosed();
    }

    @Override
    public final void close() {
        resources.close();
    }

    @Override
    public final Closing closeAsync() {
        return resources.closeAsync();
    }

    @Override
    public final String toString() {
        return resources.toString();
    }
}
