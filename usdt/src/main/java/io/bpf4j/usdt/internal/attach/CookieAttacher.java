package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.ProbeSite;
import io.bpf4j.loader.link.ProcessFilter;

/** A perf uprobe for each site, with the spec ID as its cookie. */
public final class CookieAttacher implements SiteAttacher {

    @Override
    public void attach(Program program, SiteSet sites, ProcessFilter process, LinkGroup into) {
        for (int i = 0; i < sites.size(); i++) {
            attachOne(program, sites, i, sites.specIds[i], process, into);
        }
    }

    static void attachOne(
            Program program, SiteSet sites, int index, long cookie, ProcessFilter process, LinkGroup into) {
        ProbeSite site = new ProbeSite(sites.fileOffsets[index], sites.semaphoreOffsets[index], cookie);
        try {
            into.add(program.attach(new AttachTarget.Uprobe(sites.file(), site, process, false)));
        } catch (AttachException e) {
            throw new AttachException(sites.describe(index) + ": " + e.getMessage(), e);
        }
    }
}
