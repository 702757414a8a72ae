package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.ProbeSites;
import io.bpf4j.loader.link.ProcessFilter;

/** One uprobe_multi link for all sites of the file, in one system call; the cookie of a site is its spec ID. */
public final class MultiAttacher implements SiteAttacher {

    @Override
    public void attach(Program program, SiteSet sites, ProcessFilter process, LinkGroup into) {
        ProbeSites columns = ProbeSites.columns(sites.fileOffsets, sites.semaphoreOffsets, sites.specIds);
        try {
            into.add(program.attach(new AttachTarget.UprobeMulti(sites.file(), columns, process, false)));
        } catch (AttachException e) {
            if (e.site().isEmpty()) {
                throw e;
            }
            throw new AttachException(
                    sites.describe(e.site().getAsInt()) + ": " + e.getMessage(),
                    e,
                    e.site().getAsInt());
        }
    }
}
