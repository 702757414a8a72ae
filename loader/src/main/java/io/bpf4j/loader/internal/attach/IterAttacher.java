package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.OpenFlags;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.IterTarget;
import io.bpf4j.loader.link.IteratorLink;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Attaches iterators. {@code union bpf_iter_link_info} (include/uapi/linux/bpf.h, 6.18) says what one goes over. */
final class IterAttacher {
    /** The size of the struct for maps; kernels before 6.0 refuse a longer one that isn't zero behind it. */
    private static final int MAP_SIZE = 4;

    private static final int SIZE = 16;

    private static final int MAP_FD = 0;
    private static final int CGROUP_ORDER = 0;
    private static final int CGROUP_FD = 4;
    private static final int TASK_TID = 0;
    private static final int TASK_PID = 4;

    private IterAttacher() {}

    static IteratorLink attach(Attempt attempt, IterTarget over) {
        return switch (over) {
            case IterTarget.All _ -> create(attempt, new byte[0], null);
            case IterTarget.Elements elements -> {
                Fd map = KernelMap.of(elements.map()).fd();
                yield create(
                        attempt, info(MAP_SIZE).putInt(MAP_FD, map.number()).array(), map);
            }
            case IterTarget.Cgroups cgroups -> {
                try (Fd group = attempt.execute(new FileCommand.Open(cgroups.cgroup(), OpenFlags.RDONLY))) {
                    byte[] info = info(SIZE)
                            .putInt(CGROUP_ORDER, cgroups.walk().number())
                            .putInt(CGROUP_FD, group.number())
                            .array();
                    yield create(attempt, info, group);
                }
            }
            case IterTarget.OfProcess process ->
                create(attempt, info(SIZE).putInt(TASK_PID, process.pid()).array(), null);
            case IterTarget.OfThread thread ->
                create(attempt, info(SIZE).putInt(TASK_TID, thread.tid()).array(), null);
        };
    }

    private static ByteBuffer info(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    private static IteratorLink create(Attempt attempt, byte[] info, @Nullable Fd named) {
        Fd link = attempt.execute(attempt.create(AttachType.TRACE_ITER, new LinkCommand.Details.Iter(info, named)));
        return new KernelIteratorLink(attempt.kernel(), attempt.what(), link);
    }
}
