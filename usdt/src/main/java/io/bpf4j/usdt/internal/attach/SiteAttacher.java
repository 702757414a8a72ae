package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.ProcessFilter;

/** A way to attach the sites of a file, so that a program that fires finds the spec of its site. */
public sealed interface SiteAttacher permits MultiAttacher, CookieAttacher, IpMapAttacher {

    /**
     * Attaches. Whatever was attached before a failure is in {@code into}, for the caller to close.
     *
     * @param program loaded for this way
     * @throws AttachException if a site can't be attached
     */
    void attach(Program program, SiteSet sites, ProcessFilter process, LinkGroup into);
}
