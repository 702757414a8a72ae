package io.bpf4j.loader.binding;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads and writes bit-fields, at most 64 bits wide and at any bit.
 *
 * <p>BTF numbers the bits of a struct in the order in which the compiler lays fields out: in little-endian order from
 * the least significant bit of the first byte, in big-endian order from its most significant bit. So a struct has the
 * same numbers in both orders, but they mean other bits.
 *
 * <p>Source: btf_dump_get_bitfield_value in libbpf's btf_dump.c, and createBitFieldType in clang's CGDebugInfo.cpp.
 *
 * <p>Tested by {@code BitFieldTest}.
 */
final class BitField {
    private BitField() {}

    /**
     * The bits as an unsigned number.
     *
     * @param first number of the first bit, from the start of the segment
     */
    static long get(MemorySegment segment, long first, int bits, ByteOrder order) {
        long value = 0;
        for (int done = 0; done < bits; ) {
            long at = first + done;
            int skipped = (int) (at & 7);
            int taken = Math.min(8 - skipped, bits - done);
            int octet = segment.get(ValueLayout.JAVA_BYTE, at >>> 3) & 0xff;
            if (order == ByteOrder.LITTLE_ENDIAN) {
                value |= (long) ((octet >>> skipped) & mask(taken)) << done;
            } else {
                value = (value << taken) | ((octet >>> (8 - skipped - taken)) & mask(taken));
            }
            done += taken;
        }
        return value;
    }

    /** Writes the lowest bits of a number; the other bits of the bytes stay. */
    static void set(MemorySegment segment, long first, int bits, long value, ByteOrder order) {
        for (int done = 0; done < bits; ) {
            long at = first + done;
            int skipped = (int) (at & 7);
            int taken = Math.min(8 - skipped, bits - done);
            boolean little = order == ByteOrder.LITTLE_ENDIAN;
            int shift = little ? skipped : 8 - skipped - taken;
            int part = (int) (value >>> (little ? done : bits - done - taken)) & mask(taken);
            int octet = segment.get(ValueLayout.JAVA_BYTE, at >>> 3) & 0xff;
            octet = (octet & ~(mask(taken) << shift)) | (part << shift);
            segment.set(ValueLayout.JAVA_BYTE, at >>> 3, (byte) octet);
            done += taken;
        }
    }

    private static int mask(int bits) {
        return (1 << bits) - 1;
    }
}
