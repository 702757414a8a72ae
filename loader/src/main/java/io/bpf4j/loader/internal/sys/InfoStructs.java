package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The structs that BPF_OBJ_GET_INFO_BY_FD fills: {@code struct bpf_map_info, bpf_prog_info, bpf_btf_info}
 * (include/uapi/linux/bpf.h, 6.18). An older kernel leaves unknown fields 0.
 */
final class InfoStructs {
    static final long MAP_SIZE = 88;
    static final long PROG_SIZE = 224;
    static final long BTF_SIZE = 32;

    private static final long TYPE = 0;
    private static final long ID = 4;

    private static final long MAP_KEY_SIZE = 8;
    private static final long MAP_VALUE_SIZE = 12;
    private static final long MAP_MAX_ENTRIES = 16;
    private static final long MAP_FLAGS = 20;
    private static final long MAP_NAME = 24;
    private static final long MAP_IFINDEX = 40;
    private static final long MAP_BTF_ID = 64;
    private static final long MAP_BTF_KEY_TYPE_ID = 68;
    private static final long MAP_BTF_VALUE_TYPE_ID = 72;
    private static final long MAP_EXTRA = 80;

    private static final long PROG_TAG = 8;
    private static final long PROG_JITED_LEN = 16;
    private static final long PROG_XLATED_LEN = 20;
    private static final long PROG_LOAD_TIME = 40;
    private static final long PROG_CREATED_BY_UID = 48;
    private static final long PROG_NR_MAP_IDS = 52;
    private static final long PROG_MAP_IDS = 56;
    private static final long PROG_NAME = 64;
    private static final long PROG_BITS = 84;
    private static final long PROG_BTF_ID = 128;
    private static final long PROG_RUN_TIME_NS = 192;
    private static final long PROG_RUN_CNT = 200;
    private static final long PROG_RECURSION_MISSES = 208;
    private static final long PROG_VERIFIED_INSNS = 216;

    /** The first bit-field of its word. */
    private static final int PROG_GPL_COMPATIBLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 1 << 31;

    private static final long BTF_DATA = 0;
    private static final long BTF_DATA_SIZE = 8;
    private static final long BTF_ID = 12;
    private static final long BTF_NAME = 16;
    private static final long BTF_NAME_LEN = 24;
    private static final long BTF_KERNEL = 28;

    private InfoStructs() {}

    static MapInfo map(MemorySegment info) {
        return new MapInfo(
                info.get(U32, TYPE),
                info.get(U32, ID),
                info.get(U32, MAP_KEY_SIZE),
                info.get(U32, MAP_VALUE_SIZE),
                info.get(U32, MAP_MAX_ENTRIES),
                info.get(U32, MAP_FLAGS),
                Struct.name(info, MAP_NAME),
                info.get(U32, MAP_IFINDEX),
                info.get(U32, MAP_BTF_ID),
                info.get(U32, MAP_BTF_KEY_TYPE_ID),
                info.get(U32, MAP_BTF_VALUE_TYPE_ID),
                info.get(U64, MAP_EXTRA));
    }

    static ProgInfo program(MemorySegment info) {
        // The tag is bytes, shown in the order they have in memory.
        long tag = info.get(ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), PROG_TAG);
        return new ProgInfo(
                info.get(U32, TYPE),
                info.get(U32, ID),
                HexFormat.of().toHexDigits(tag),
                Struct.name(info, PROG_NAME),
                info.get(U32, PROG_JITED_LEN),
                info.get(U32, PROG_XLATED_LEN),
                info.get(U32, PROG_BTF_ID),
                info.get(U64, PROG_RUN_TIME_NS),
                info.get(U64, PROG_RUN_CNT),
                info.get(U64, PROG_RECURSION_MISSES),
                info.get(U32, PROG_VERIFIED_INSNS),
                info.get(U64, PROG_LOAD_TIME),
                info.get(U32, PROG_CREATED_BY_UID),
                info.get(U32, PROG_NR_MAP_IDS),
                (info.get(U32, PROG_BITS) & PROG_GPL_COMPATIBLE) != 0);
    }

    /** Tells the kernel where to put the ids of the maps. */
    static void askMapIds(MemorySegment info, MemorySegment ids) {
        info.set(U32, PROG_NR_MAP_IDS, (int) (ids.byteSize() / U32.byteSize()));
        info.set(U64, PROG_MAP_IDS, ids.address());
    }

    /** Tells the kernel where to put the types and the name. */
    static void askBtf(MemorySegment info, MemorySegment data, MemorySegment name) {
        info.set(U64, BTF_DATA, data.address());
        info.set(U32, BTF_DATA_SIZE, (int) data.byteSize());
        info.set(U64, BTF_NAME, name.address());
        info.set(U32, BTF_NAME_LEN, (int) name.byteSize());
    }

    static int btfSize(MemorySegment info) {
        return info.get(U32, BTF_DATA_SIZE);
    }

    static BtfInfo btf(MemorySegment info, MemorySegment data, MemorySegment name) {
        return new BtfInfo(
                info.get(U32, BTF_ID),
                Struct.text(name),
                info.get(U32, BTF_KERNEL) != 0,
                data.asSlice(0, Math.min(data.byteSize(), btfSize(info))).toArray(ValueLayout.JAVA_BYTE));
    }
}
