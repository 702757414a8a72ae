package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * Control groups of version 2.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record CgroupKind(AttachTarget.Cgroup target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.cgroup", "u64 cgroup_id; u32 attach_type");

    static final LinkView VIEW = LinkView.of(
            3 /* BPF_LINK_TYPE_CGROUP */,
            info -> new LinkDetail.Cgroup(info.u64(INFO, "cgroup_id"), AttachType.of(info.u32(INFO, "attach_type"))));

    @Override
    public Link attach(Attempt attempt) {
        AttachType type = attempt.requiredType(target.attachType(), "cgroup/…");
        Place place = Place.of(target.anchor());
        try (Fd group = attempt.open(target.directory())) {
            return attempt.link(
                    attempt.create(type, place.details()).withTarget(group).withFlags(place.flags()));
        }
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EBADF -> "; the directory is not a control group of version 2";
            case EPERM ->
                "; a program is attached to this group or to an ancestor without BPF_F_ALLOW_MULTI, which excludes"
                        + " other programs";
            default -> Place.refusal(errno, target.anchor());
        };
    }
}
