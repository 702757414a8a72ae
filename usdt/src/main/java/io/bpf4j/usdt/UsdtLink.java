package io.bpf4j.usdt;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.sys.Diagnostic;
import java.util.List;

/**
 * A program attached to probes. The caller that attached owns the link; closing it detaches from all sites, then frees
 * the spec IDs for other attachments. <i>Thread-safe.</i>
 */
public final class UsdtLink implements Link {
    private final List<UsdtProbe> probes;
    private final AttachPlan plan;
    private final LinkGroup links;
    private final int specCount;
    private final List<Diagnostic> problems;

    UsdtLink(List<UsdtProbe> probes, AttachPlan plan, LinkGroup links, int specCount, List<Diagnostic> problems) {
        this.probes = List.copyOf(probes);
        this.plan = plan;
        this.links = links;
        this.specCount = specCount;
        this.problems = List.copyOf(problems);
    }

    /** The probes, in the order given to the attach. */
    public List<UsdtProbe> probes() {
        return probes;
    }

    /** The strategy by which the program was attached. */
    public AttachStrategy strategy() {
        return plan.strategy();
    }

    /** Why the strategy is not a better one, which is the subject; empty if it is the best. */
    public List<Diagnostic> reasons() {
        return plan.reasons();
    }

    /** The number of sites of all probes together. */
    public int siteCount() {
        return plan.siteCount();
    }

    /**
     * The number of entries of the spec map in use: sites with equal arguments and cookie share one. 0 after closing.
     */
    public int specCount() {
        return isClosed() ? 0 : specCount;
    }

    /**
     * Problems with their reasons: sites that are left out because the kernel would refuse them, or that may never fire
     * ({@link UsdtProbe#problems}); arguments that the program can't read, for which {@code bpf_usdt_arg()} returns an
     * error ({@link Diagnostic.Kind#UNREADABLE}); and files that the process of {@link AttachOptions#pid} had not
     * mapped at the time of the attach ({@link Diagnostic.Kind#NOT_MAPPED}). At most about a hundred for each file, and
     * a hundred for arguments.
     */
    public List<Diagnostic> problems() {
        return problems;
    }

    @Override
    public String description() {
        return links.description();
    }

    @Override
    public boolean isClosed() {
        return links.isClosed();
    }

    @Override
    public Closing closeAsync() {
        return links.closeAsync();
    }

    @Override
    public void close() {
        links.close();
    }

    @Override
    public String toString() {
        return links.toString();
    }
}
