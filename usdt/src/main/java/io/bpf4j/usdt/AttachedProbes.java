package io.bpf4j.usdt;

import io.bpf4j.loader.link.Detaching;
import io.bpf4j.usdt.internal.attach.Attachment;
import java.util.List;

/** The one kind of {@link UsdtLink}. */
final class AttachedProbes implements UsdtLink {
    private final String description;
    private final List<UsdtProbe> probes;
    private final AttachPlan plan;
    private final Attachment attachment;
    private final int specCount;
    private final List<String> problems;

    AttachedProbes(
            String description,
            List<UsdtProbe> probes,
            AttachPlan plan,
            Attachment attachment,
            int specCount,
            List<String> problems) {
        this.description = description;
        this.probes = List.copyOf(probes);
        this.plan = plan;
        this.attachment = attachment;
        this.specCount = specCount;
        this.problems = List.copyOf(problems);
    }

    @Override
    public String description() {
        return description;
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
    public boolean isClosed() {
        return attachment.isClosed();
    }

    @Override
    public Detaching closeInBackground() {
        return attachment.closeInBackground();
    }

    @Override
    public void close() {
        attachment.close();
    }

    @Override
    public String toString() {
        return description;
    }
}
