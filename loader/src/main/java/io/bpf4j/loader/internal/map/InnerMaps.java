package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * Maps as the values of other maps. A write takes a file descriptor and a read returns an id, both 4 bytes: the kernel
 * stores the map itself, and a file descriptor is valid only in its own process (bpf_map_fd_get_ptr and
 * bpf_map_fd_sys_lookup_elem in kernel/bpf/map_in_map.c).
 */
final class InnerMaps {
    private InnerMaps() {}

    static boolean put(KernelMap outer, byte[] key, KernelMap inner, UpdateMode mode) {
        Fd fd = inner.fd();
        byte[] value = new byte[Integer.BYTES];
        ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).putInt(fd.hold());
        try {
            return outer.update(key, value, mode);
        } finally {
            fd.release();
        }
    }

    static Optional<BpfMap> open(KernelMap outer, byte[] key) {
        Optional<byte[]> value = outer.lookup(key);
        if (value.isEmpty()) {
            return Optional.empty();
        }
        int id = ByteBuffer.wrap(value.get()).order(ByteOrder.nativeOrder()).getInt();
        ObjectCommand.FdById byId = new ObjectCommand.FdById(ObjectCommand.Kind.MAP, id);
        try {
            return Optional.of(KernelMap.adopt(outer.host(), outer.kernel().execute(byId), ""));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty(); // taken out since, and gone
            }
            throw e;
        }
    }
}
