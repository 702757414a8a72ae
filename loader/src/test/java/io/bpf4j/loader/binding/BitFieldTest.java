package io.bpf4j.loader.binding;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The bits of a struct in both byte orders, as clang lays them out. */
class BitFieldTest {
    /** {@code struct { unsigned a : 3, b : 7, c : 22; } = {5, 0x55, 0x2ABCDE}}, as clang -target bpfel and bpfeb. */
    private static final byte[] LITTLE = {(byte) 0xad, 0x7a, (byte) 0xf3, (byte) 0xaa};

    private static final byte[] BIG = {(byte) 0xb5, 0x6a, (byte) 0xbc, (byte) 0xde};

    @Test
    void bitsAreThoseOfTheCompiler() {
        assertThat(fields(LITTLE, ByteOrder.LITTLE_ENDIAN)).containsExactly(5, 0x55, 0x2abcde);
        assertThat(fields(BIG, ByteOrder.BIG_ENDIAN)).containsExactly(5, 0x55, 0x2abcde);
    }

    private static long[] fields(byte[] bytes, ByteOrder order) {
        MemorySegment segment = MemorySegment.ofArray(bytes);
        return new long[] {
            BitField.get(segment, 0, 3, order), BitField.get(segment, 3, 7, order), BitField.get(segment, 10, 22, order)
        };
    }

    @Test
    void whatIsWrittenIsReadAndNothingElseChanges() {
        Random random = new Random(1);
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            for (int round = 0; round < 2_000; round++) {
                byte[] bytes = new byte[12];
                random.nextBytes(bytes);
                int bits = 1 + random.nextInt(64);
                int first = random.nextInt(96 - bits + 1);
                long value = random.nextLong();
                MemorySegment segment = MemorySegment.ofArray(bytes.clone());
                BitField.set(segment, first, bits, value, order);
                assertThat(BitField.get(segment, first, bits, order))
                        .as("%d bits from %d in %s", bits, first, order)
                        .isEqualTo(bits == 64 ? value : value & ((1L << bits) - 1));
                MemorySegment before = MemorySegment.ofArray(bytes);
                for (int bit = 0; bit < 96; bit++) {
                    if (bit < first || bit >= first + bits) {
                        assertThat(BitField.get(segment, bit, 1, order))
                                .as("bit %d beside %d bits from %d in %s", bit, bits, first, order)
                                .isEqualTo(BitField.get(before, bit, 1, order));
                    }
                }
            }
        }
    }
}
