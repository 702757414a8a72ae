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
    public Link attach(Attempt attempt) {
        return Attachment.of(attempt, TcPlace.open(attempt.kernel(), target));
    }

    @Override
    public String refusal(Errno errno) {
        return errno == Errno.EEXIST ? "; the priority already has a filter of this handle" : "";
    }
}
