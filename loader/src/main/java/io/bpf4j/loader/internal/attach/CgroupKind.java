package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
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
record CgroupKind(Cgroup target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.cgroup", "u64 cgroup_id; u32 attach_type");

    static final LinkView VIEW = LinkView.of(
            3 /* BPF_LINK_TYPE_CGROUP */,
            info -> new LinkDetail.Cgroup(info.u64(INFO, "cgroup_id"), AttachType.of(info.u32(INFO, "attach_type"))));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.requiredType(target.attachType(), "cgroup/…");
        if (target.replaced().isPresent()) {
            throw request.refused(
                    "a link replaces no program; choose Cgroup.withoutLink, or update the link that is there");
        }
        AnchorFields order = AnchorFields.of(target.anchor());
        return request.through(
                target.directory(),
                group -> request.link(request.create(type, order.details())
                        .withTarget(group)
                        .withFlags(order.flags() | preorder(target))));
    }

    private static int preorder(Cgroup target) {
        return target.isPreorder() ? AttachedPrograms.PREORDER : 0;
    }

    /** Without a link, by BPF_PROG_ATTACH. */
    record Unlinked(Cgroup target) implements LinkKind {
        @Override
        public Link attach(AttachRequest request) {
            AttachType type = request.requiredType(target.attachType(), "cgroup/…");
            if (!target.anchor().isDefault()) {
                throw request.refused("a place among the programs of a group needs a link");
            }
            Cgroup.Sharing sharing = target.sharing().orElseThrow();
            if (target.replaced().isPresent() && sharing != Cgroup.Sharing.MULTI) {
                throw request.refused("only with Sharing.MULTI a program replaces a given one; with " + sharing
                        + " it replaces the one that is there");
            }
            Fd group = request.open(target.directory());
            return Attachment.of(
                    request,
                    new ProgAttach(
                            request.kernel(),
                            group,
                            type,
                            sharing.flag() | preorder(target),
                            target.replaced().map(AttachRequest::fd).orElse(null)));
        }

        @Override
        public String refusal(Errno errno) {
            return switch (errno) {
                case EBADF -> "; the directory is not a control group of version 2";
                case EPERM ->
                    "; programs are attached to this group, or to an ancestor, with another Sharing, which excludes"
                            + " this one";
                case EINVAL -> target.isPreorder() ? "; BPF_F_PREORDER needs Linux 6.15 and Sharing.MULTI" : "";
                case ENOENT -> target.replaced().isPresent() ? "; the program to replace is not attached there" : "";
                default -> AnchorFields.refusal(errno, target.anchor());
            };
        }
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EBADF -> "; the directory is not a control group of version 2";
            case EPERM ->
                "; a program is attached to this group or to an ancestor without BPF_F_ALLOW_MULTI, which excludes"
                        + " other programs";
            default -> AnchorFields.refusal(errno, target.anchor());
        };
    }
}
