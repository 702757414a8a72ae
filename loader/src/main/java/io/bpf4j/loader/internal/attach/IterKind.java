package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Iterators. {@code union bpf_iter_link_info} (include/uapi/linux/bpf.h, 6.18) selects the objects that an iterator
 * visits.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code IteratorsOnKernelTest}.
 */
record IterKind(Iter target) implements LinkKind {
    private static final StructLayout CREATE =
            StructLayout.of("bpf_attr.link_create", "u64 iter_info; u32 iter_info_len");
    private static final StructLayout MAP = StructLayout.of("bpf_iter_link_info.map", "u32 map_fd");
    private static final StructLayout CGROUP = StructLayout.of("bpf_iter_link_info.cgroup", "u32 order, cgroup_fd");
    private static final StructLayout TASK = StructLayout.of("bpf_iter_link_info.task", "u32 tid, pid");
    private static final StructLayout INFO =
            StructLayout.of("bpf_link_info.iter", "u64 target_name; u32 target_name_len, map.map_id");

    static final LinkView VIEW = LinkView.of(
                    4 /* BPF_LINK_TYPE_ITER */, info -> new LinkDetail.Iter(info.text(), info.u32(INFO, "map.map_id")))
            .withText(_ -> new RawLinkInfo.TextField(INFO, "target_name", "target_name_len"))
            .withOpener(OpenIterator::new);

    /**
     * The size of the struct for maps; kernels before 6.0 reject a longer struct unless the additional bytes are zero.
     */
    private static final int MAP_SIZE = 4;

    private static final int SIZE = 16;

    @Override
    public Link attach(AttachRequest request) {
        if (target.map().isPresent()) {
            Fd map = KernelMap.of(target.map().get()).fd();
            return link(request, info(MAP_SIZE, MAP, map.number()), map);
        }
        if (target.cgroup().isPresent()) {
            return request.through(
                    target.cgroup().get(),
                    group -> link(request, info(SIZE, CGROUP, target.walk().number(), group.number()), group));
        }
        if (target.pid().isPresent() || target.tid().isPresent()) {
            return link(
                    request,
                    info(SIZE, TASK, target.tid().orElse(0), target.pid().orElse(0)),
                    null);
        }
        return link(request, new byte[0], null);
    }

    private static byte[] info(int size, StructLayout layout, long... values) {
        byte[] info = new byte[size];
        layout.setAll(MemorySegment.ofArray(info), values);
        return info;
    }

    private static Link link(AttachRequest request, byte[] info, @Nullable Fd targetFd) {
        Fd link = request.execute(request.create(AttachType.TRACE_ITER, new LinkCommand.Details() {
            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                CREATE.set(union, "iter_info", Struct.bytes(memory, info));
                CREATE.set(union, "iter_info_len", info.length);
            }

            @Override
            public List<Fd> fds() {
                return targetFd == null ? List.of() : List.of(targetFd);
            }
        }));
        return new OpenIterator(request.kernel(), request.description(), link);
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EBADF, EINVAL ->
                target.walk() == Iter.Walk.CHILDREN
                        ? "; the order CHILDREN needs Linux 7.0 and an iterator of control groups"
                        : "; this kind of iterator does not iterate over this target, or requires a target";
            case EACCES -> "; the program accesses more bytes of a key or value than the map's elements have";
            default -> "";
        };
    }
}
