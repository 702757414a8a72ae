package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.Errno;
import org.jspecify.annotations.Nullable;

/**
 * The failure of an operation on a map, with its usual reason.
 *
 * <p>Tested by {@code KernelMapTest} and {@code MapBatchTest}.
 */
final class MapFailure {
    private MapFailure() {}

    /**
     * The failure as an exception.
     *
     * @param operation the kernel's name of it: {@code BPF_MAP_UPDATE_ELEM}
     */
    static SyscallException of(KernelMap map, String operation, int errno) {
        return of(map, operation, errno, 0);
    }

    /** @param flags of the element, without the mode of an update */
    static SyscallException of(KernelMap map, String operation, int errno, long flags) {
        // ERANGE: a CPU that is not possible (bpf_map_check_op_flags of include/linux/bpf.h).
        if (flags != 0 && (errno == Errno.EINVAL.number() || errno == Errno.ERANGE.number())) {
            return new SyscallException("bpf(" + operation + ") on map \"" + map.name() + "\"", errno, ofFlags(flags));
        }
        return new SyscallException(
                "bpf(" + operation + ") on map \"" + map.name() + "\"", errno, hint(map, operation, Errno.of(errno)));
    }

    /**
     * Adds the reason to the failure of a call that is no operation on elements, if the descriptor is not open for it.
     */
    static SyscallException explained(KernelMap map, SyscallException e) {
        boolean refused = e.errno() == Errno.EPERM || e.errno() == Errno.EACCES;
        return refused && map.access() != MapAccess.READ_WRITE ? FailureHints.withHint(e, notOpenFor(map)) : e;
    }

    /**
     * The failure to put a map into a map of maps. The kernel says only EINVAL (bpf_map_fd_get_ptr and
     * bpf_map_meta_equal of kernel/bpf/map_in_map.c). Since commit 134fede4eecf of Linux 5.10 max_entries is compared
     * only for arrays (array_map_meta_equal of kernel/bpf/arraymap.c) and XSKMAPs (xsk_map_meta_equal of
     * net/xdp/xskmap.c).
     *
     * @param defined what the inner maps must be; null if unknown
     */
    static SyscallException ofInner(KernelMap outer, KernelMap inner, @Nullable MapShape defined, SyscallException e) {
        String hint = "map \"" + inner.name() + "\" is " + inner.shape() + ", but the inner map must match the"
                + " definition of inner maps of map \"" + outer.name() + "\": "
                + (defined == null ? "type, sizes of key and value, flags" : defined)
                + "; max_entries must match for an ARRAY without BPF_F_INNER_MAP and an XSKMAP, and before Linux"
                + " 5.10 for all types";
        return FailureHints.withHint(e, hint);
    }

    private static String ofFlags(long flags) {
        return (flags & BpfMap.F_LOCK) == 0
                ? "BPF_F_CPU and BPF_F_ALL_CPUS need Linux 7.0 and a map with a value for each CPU, and exclude each"
                        + " other; a look-up takes only BPF_F_CPU, and of a possible CPU"
                : "BPF_F_LOCK needs Linux 5.1, and values with a struct bpf_spin_lock that the map's BTF describes";
    }

    private static String notOpenFor(KernelMap map) {
        return switch (map.access()) {
            case READ_WRITE ->
                "the map is frozen, or was created as read-only or write-only, or a policy of the kernel (LSM or"
                        + " seccomp) refuses the call";
            case READ_ONLY -> "the map was opened with MapAccess.READ_ONLY, so this process can't write to it";
            case WRITE_ONLY -> "the map was opened with MapAccess.WRITE_ONLY, so this process can't read it";
        };
    }

    private static @Nullable String hint(KernelMap map, String operation, Errno errno) {
        return switch (errno) {
            case E2BIG ->
                operation.startsWith("BPF_MAP_UPDATE")
                        ? "the map is full with " + Integer.toUnsignedString(map.maxEntries())
                                + " elements, or the key is beyond the last element of an array; increase max_entries"
                                + " before the load"
                        : null;
            case EPERM -> notOpenFor(map);
            case ENOMEM -> FailureHints.OUT_OF_MEMORY;
            case ENOTSUPP, EOPNOTSUPP, EINVAL -> unsupported(map, operation);
            default -> null;
        };
    }

    private static @Nullable String unsupported(KernelMap map, String operation) {
        MapTraits row = MapTraits.of(map.typeNumber());
        if (operation.equals(MapCommand.Op.LOOKUP_AND_DELETE.kernelName())) {
            return "queues and stacks support it since Linux 4.20, hash maps since 5.14, other types do not";
        }
        if (operation.equals(MapCommand.Op.DELETE.kernelName()) && row.has(MapTraits.Trait.ALL_ELEMENTS)) {
            return "the elements of an array can't be deleted";
        }
        return null;
    }
}
