package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.ByteOrder;

/**
 * {@code struct perf_event_attr} (include/uapi/linux/perf_event.h), in the size of PERF_ATTR_SIZE_VER5, which every
 * kernel since 4.1 accepts and newer kernels extend with zeros.
 */
final class PerfEventAttr {
    static final long SIZE = 112;

    private static final long TYPE = 0;
    private static final long STRUCT_SIZE = 4;
    private static final long CONFIG = 8;
    private static final long SAMPLE_PERIOD = 16; // also sample_freq
    private static final long SAMPLE_TYPE = 24;
    private static final long BITS = 40;
    private static final long WAKEUP_EVENTS = 48;
    private static final long CONFIG1 = 56; // also uprobe_path, kprobe_func
    private static final long CONFIG2 = 64; // also probe_offset

    /** Places in the bit-field at {@link #BITS}, in the order in which C declares them. */
    private static final int BIT_DISABLED = 0;

    private static final int BIT_FREQ = 10;

    private PerfEventAttr() {}

    static long encode(MemorySegment attr, SegmentAllocator memory, PerfCommand.Open open) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U32, TYPE, open.type());
        attr.set(U32, STRUCT_SIZE, (int) SIZE);
        attr.set(U64, CONFIG, open.config());
        attr.set(U64, SAMPLE_PERIOD, open.samplePeriod());
        attr.set(U64, SAMPLE_TYPE, open.sampleType());
        long bits = (open.disabled() ? bit(BIT_DISABLED, ByteOrder.nativeOrder()) : 0)
                | (open.byFrequency() ? bit(BIT_FREQ, ByteOrder.nativeOrder()) : 0);
        attr.set(U64, BITS, bits);
        attr.set(U32, WAKEUP_EVENTS, open.wakeupEvents());
        attr.set(
                U64,
                CONFIG1,
                open.text() == null
                        ? open.config1()
                        : Struct.string(memory, open.text()).address());
        attr.set(U64, CONFIG2, open.config2());
        return SIZE;
    }

    /** C fills a bit-field from the low end on little-endian machines and from the high end on big-endian ones. */
    static long bit(int place, ByteOrder order) {
        return order == ByteOrder.LITTLE_ENDIAN ? 1L << place : 1L << (63 - place);
    }
}
