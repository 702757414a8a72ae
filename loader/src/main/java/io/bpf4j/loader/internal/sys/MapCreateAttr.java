package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;

/**
 * The part of {@code union bpf_attr} for BPF_MAP_CREATE (include/uapi/linux/bpf.h, 6.18), up to
 * {@code value_type_btf_obj_fd}.
 */
final class MapCreateAttr {
    /** Up to {@code map_extra}: few maps need the fields after it. */
    private static final long SIZE = 72;

    private static final long SIZE_WITH_BTF_OF_VALUE = 80;

    /**
     * BPF_F_VTYPE_BTF_OBJ_FD: the struct has a file descriptor of the BTF with the type of the value (fcc2c1fb0651).
     */
    private static final int VTYPE_BTF_OBJ_FD = 1 << 15;

    private static final long MAP_TYPE = 0;
    private static final long KEY_SIZE = 4;
    private static final long VALUE_SIZE = 8;
    private static final long MAX_ENTRIES = 12;
    private static final long MAP_FLAGS = 16;
    private static final long INNER_MAP_FD = 20;
    private static final long NUMA_NODE = 24;
    private static final long MAP_NAME = 28;
    private static final long MAP_IFINDEX = 44;
    private static final long BTF_FD = 48;
    private static final long BTF_KEY_TYPE_ID = 52;
    private static final long BTF_VALUE_TYPE_ID = 56;
    private static final long BTF_VMLINUX_VALUE_TYPE_ID = 60;
    private static final long MAP_EXTRA = 64;
    private static final long VALUE_TYPE_BTF_OBJ_FD = 72;

    private MapCreateAttr() {}

    static long encode(MemorySegment attr, MapCommand.Create create) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U32, MAP_TYPE, create.type());
        attr.set(U32, KEY_SIZE, create.keySize());
        attr.set(U32, VALUE_SIZE, create.valueSize());
        attr.set(U32, MAX_ENTRIES, create.maxEntries());
        attr.set(U32, MAP_FLAGS, create.flags());
        attr.set(U32, INNER_MAP_FD, Struct.fd(create.inner()));
        attr.set(U32, NUMA_NODE, create.numaNode());
        Struct.name(attr, MAP_NAME, create.name());
        attr.set(U32, MAP_IFINDEX, create.ifindex());
        attr.set(U32, BTF_FD, Struct.fd(create.btf()));
        attr.set(U32, BTF_KEY_TYPE_ID, create.keyTypeId());
        attr.set(U32, BTF_VALUE_TYPE_ID, create.valueTypeId());
        attr.set(U32, BTF_VMLINUX_VALUE_TYPE_ID, create.kernelValueTypeId());
        attr.set(U64, MAP_EXTRA, create.extra());
        if (create.kernelValueBtf() == null) {
            return SIZE;
        }
        attr.asSlice(SIZE, SIZE_WITH_BTF_OF_VALUE - SIZE).fill((byte) 0);
        attr.set(U32, MAP_FLAGS, create.flags() | VTYPE_BTF_OBJ_FD);
        attr.set(U32, VALUE_TYPE_BTF_OBJ_FD, Struct.fd(create.kernelValueBtf()));
        return SIZE_WITH_BTF_OF_VALUE;
    }
}
