package io.bpf4j.usdt;

import io.bpf4j.loader.link.Closing;
import io.bpf4j.loader.link.LinkGroup;
import java.util.List;
import java.util.stream.Stream;

/** The one kind of {@link UsdtLink}. */
final class AttachedProbes implements UsdtLink {
    private final List<UsdtProbe> probes;
    private final AttachPlan plan;
    private final LinkGroup links;
    private final int specCount;
    private final List<String> problems;
    private final List<String> notMapped;

    AttachedProbes(
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

    @Override
    public String description() {
        return links.description();
    }

    @Override
    public List<UsdtProbe> probes() {
        return probes;
    }

    @Override
    public AttachStrategy strategy() {
        return plan.strategy();
    }

    @Override
    public List<String> reasons() {
        return plan.reasons();
    }

    @Override
    public int siteCount() {
        return plan.siteCount();
    }

    @Override
    public int specCount() {
        return isClosed() ? 0 : specCount;
    }

    @Override
    public List<String> problems() {
        return problems;
    }

    @Override
    public List<String> notMapped() {
        return notMapped;
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
