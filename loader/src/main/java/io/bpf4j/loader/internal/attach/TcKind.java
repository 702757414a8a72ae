package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.sys.kernel.Errno;

/**
 * Filters of traffic control.
 *
 * <p>Tested by {@code NetlinkOnKernelTest}.
 */
record TcKind(Tc target) implements LinkKind {
    @Override
    public Link attach(AttachRequest request) {
        return Attachment.of(request, TcHook.open(request.kernel(), target));
    }

    @Override
    public String refusal(Errno errno) {
        return errno == Errno.EEXIST ? "; the priority already has a filter of this handle" : "";
    }
}
