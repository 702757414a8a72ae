package io.bpf4j.usdt;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.LinkGroup;
import java.util.List;
import java.util.stream.Stream;

/**
 * A program attached to probes. The caller that attached owns the link; closing it detaches from all sites, then frees
 * the spec IDs for other attachments. <b>Thread-safe</b>.
 */
public final class UsdtLink implements Link {
    private final List<UsdtProbe> probes;
    private final AttachPlan plan;
    private final LinkGroup links;
    private final int specCount;
    private final List<String> problems;
    private final List<String> notMapped;

    UsdtLink(
            List<UsdtProbe> probes,
            AttachPlan plan,
            LinkGroup links,
            int specCount,
            List<String> problems,
            List<String> notMapped) {
        this.probes = List.copyOf(probes);
        this.plan = plan;
        this.links = links;
        this.specCount = specCount;
        this.problems = Stream.concat(problems.stream(), notMapped.stream()).toList();
        this.notMapped = List.copyOf(notMapped);
    }

    /** The probes, in the order given to the attach. */
    public List<UsdtProbe> probes() {
        return probes;
    }

    /** The strategy by which the program was attached. */
    public AttachStrategy strategy() {
        return plan.strategy();
    }

    /** The reasons for the strategy: one sentence each, without a full stop. */
    public List<String> reasons() {
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
     * Problems with their reasons, one line each: sites that are left out because the kernel would refuse them, or that
     * may never fire ({@link UsdtProbe#problems}); arguments that the program can't read, for which {@code
     * bpf_usdt_arg()} returns an error; and {@link #notMapped}. At most about a hundred for each file, and a hundred
     * for arguments.
     */
    public List<String> problems() {
        return problems;
    }

    /**
     * A line for each file that the process of {@link AttachOptions#pid} had not mapped at the time of the attach: the
     * file's probes fire only if the process maps it later.
     */
    public List<String> notMapped() {
        return notMapped;
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
