package io.bpf4j.loader.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.Codec.Length;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CodecTest {
    record Inner(short a, long b) {}

    @SuppressWarnings("ArrayRecordComponent") // compared field by field below
    record Event(
            byte kind,
            long time,
            int cpu,
            boolean flag,
            @Length(5) String comm,
            Inner inner,
            @Length(3) short[] parts,
            float ratio,
            double exact,
            char wide) {}

    record Recursive(int value, Recursive next) {}

    record NoLength(String text) {}

    record NotC(Object thing) {}

    private enum Nothing {}

    record WithEnum(Nothing nothing) {}

    @Test
    void aRecordHasTheLayoutOfAStruct() {
        Codec<Event> codec = Codec.ofRecord(Event.class);
        // kind 0, time 8, cpu 16, flag 20, comm 21, inner 32 (a 32, b 40), parts 48, ratio 56, exact 64, wide 72
        assertThat(codec.size()).isEqualTo(80);
        MemorySegment bytes = MemorySegment.ofArray(new byte[88]);
        bytes.fill((byte) 0x5a);
        Event event = new Event(
                (byte) 1, 2, 3, true, "java", new Inner((short) 4, 5), new short[] {6, 7, 8}, 0.5f, 0.25, 'x');
        codec.encode(event, bytes, 8);
        assertThat(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 16)).isEqualTo(2);
        assertThat(bytes.get(ValueLayout.JAVA_INT_UNALIGNED, 24)).isEqualTo(3);
        assertThat(bytes.get(ValueLayout.JAVA_BYTE, 28)).isEqualTo((byte) 1);
        assertThat(bytes.asSlice(29, 5).toArray(ValueLayout.JAVA_BYTE)).containsExactly('j', 'a', 'v', 'a', 0);
        assertThat(bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, 40)).isEqualTo((short) 4);
        assertThat(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 48)).isEqualTo(5);
        assertThat(bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, 60)).isEqualTo((short) 8);
        assertThat(bytes.get(ValueLayout.JAVA_BYTE, 9)).as("padding is zero").isZero();
        assertThat(bytes.get(ValueLayout.JAVA_BYTE, 7)).as("nothing before it").isEqualTo((byte) 0x5a);
        Event read = codec.decode(bytes, 8);
        assertThat(read).usingRecursiveComparison().isEqualTo(event);
    }

    @SuppressWarnings("ArrayRecordComponent")
    record Arrays(
            @Length(2) byte[] bytes,
            @Length(2) boolean[] flags,
            @Length(2) short[] shorts,
            @Length(2) char[] chars,
            @Length(2) int[] ints,
            @Length(2) long[] longs,
            @Length(2) float[] floats,
            @Length(2) double[] doubles,
            @Length(2) Inner[] inners) {}

    @Test
    void arraysOfEveryElement() {
        Codec<Arrays> codec = Codec.ofRecord(Arrays.class);
        Arrays arrays = new Arrays(
                new byte[] {-1, 2},
                new boolean[] {true, false},
                new short[] {-3, 4},
                new char[] {'\uffff', 'b'},
                new int[] {-5, 6},
                new long[] {Long.MIN_VALUE, 7},
                new float[] {-0.5f, Float.MIN_VALUE},
                new double[] {-0.25, Double.MAX_VALUE},
                new Inner[] {new Inner((short) 8, 9), new Inner((short) -10, -11)});
        MemorySegment memory = MemorySegment.ofArray(new byte[(int) codec.size()]);
        codec.encode(arrays, memory, 0);
        assertThat(codec.decode(memory, 0)).usingRecursiveComparison().isEqualTo(arrays);
        // A flag is set by any byte but 0.
        memory.set(ValueLayout.JAVA_BYTE, 3, (byte) 0x80);
        assertThat(codec.decode(memory, 0).flags).containsExactly(true, true);
    }

    private record Refusing(int value) {
        Refusing {
            if (value < 0) {
                throw new IllegalStateException("negative");
            }
        }
    }

    @Test
    void whatTheRecordItselfRefusesIsPassedOn() {
        Codec<Refusing> codec = Codec.ofRecord(Refusing.class);
        MemorySegment memory = MemorySegment.ofArray(new byte[] {1, 0, 0, 0, -1, -1, -1, -1});
        assertThat(codec.decode(memory, 0)).isEqualTo(new Refusing(1));
        assertThatThrownBy(() -> codec.decode(memory, 4))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("negative");
    }

    @Test
    void shortMemoryIsNoticed() {
        Codec<Inner> codec = Codec.ofRecord(Inner.class);
        assertThatThrownBy(() -> codec.decode(MemorySegment.ofArray(new byte[15]), 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> codec.encode(new Inner((short) 1, 2), MemorySegment.ofArray(new byte[15]), 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void whatIsNotCIsRefusedByName() {
        assertThatThrownBy(() -> Codec.ofRecord(NoLength.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("component text of")
                .hasMessageContaining("@Codec.Length");
        assertThatThrownBy(() -> Codec.ofRecord(NotC.class)).hasMessageContaining("component thing of");
        assertThatThrownBy(() -> Codec.ofRecord(WithEnum.class))
                .hasMessageContaining("component nothing of")
                .hasMessageContaining("use an int");
        assertThatThrownBy(() -> Codec.ofRecord(Recursive.class)).hasMessageContaining("contains itself");
    }

    @Test
    void textEndsAtTheNulOrAtTheEnd() {
        Codec<String> codec = Codec.ofString(4);
        MemorySegment full = MemorySegment.ofArray(new byte[] {'a', 'b', 'c', 'd'});
        assertThat(codec.decode(full, 0)).isEqualTo("abcd");
        codec.encode("ab", full, 0);
        assertThat(full.toArray(ValueLayout.JAVA_BYTE)).containsExactly('a', 'b', 0, 0);
        assertThat(codec.decode(full, 0)).isEqualTo("ab");
        assertThatThrownBy(() -> codec.encode("abcde", full, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("text of 5 bytes does not fit in 4 bytes");
        assertThatThrownBy(() -> codec.encode("a\0b", full, 0)).hasMessageContaining("a NUL at index 1");
    }

    /** A key that was read is looked up by the bytes that it is written as. */
    @Test
    void textIsWrittenAsTheBytesItWasReadFrom() {
        Codec<String> codec = Codec.ofString(4);
        byte[][] texts = {
            {'a', 'b', 'c', 'd'}, // no NUL
            {(byte) 0xff, 'a', (byte) 0x80, 0}, // never UTF-8
            {'a', (byte) 0xe2, (byte) 0x82, 0}, // cut within a character
            {(byte) 0xed, (byte) 0xb2, (byte) 0x80, 0}, // a surrogate in UTF-8's form
            {(byte) 0xc0, (byte) 0xaf, 0, 0}, // too long a form
            {(byte) 0xef, (byte) 0xbf, (byte) 0xbd, 0}, // U+FFFD itself
            {(byte) 0xf0, (byte) 0x9f, (byte) 0x98, (byte) 0x80}, // a surrogate pair in Java
            {(byte) 0xf0, (byte) 0x9f, (byte) 0x98, 0}
        };
        for (byte[] text : texts) {
            MemorySegment written = MemorySegment.ofArray(new byte[4]);
            codec.encode(codec.decode(MemorySegment.ofArray(text), 0), written, 0);
            assertThat(written.toArray(ValueLayout.JAVA_BYTE)).containsExactly(text);
        }
        assertThat(codec.decode(MemorySegment.ofArray(texts[5]), 0)).isEqualTo("\ufffd");
        assertThat(codec.decode(MemorySegment.ofArray(texts[1]), 0)).isEqualTo("\udcffa\udc80");
    }

    @Test
    void anyBytesWithoutNulAreWrittenAsTheyWereRead() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        Codec<String> codec = Codec.ofString(8);
        byte[] bytes = new byte[8];
        MemorySegment written = MemorySegment.ofArray(new byte[8]);
        for (int round = 0; round < 100_000; round++) {
            for (int i = 0; i < bytes.length; i++) {
                // Half of them bytes that start or continue a character in UTF-8.
                bytes[i] = (byte) (random.nextBoolean() ? 0x80 + random.nextInt(128) : 1 + random.nextInt(255));
            }
            codec.encode(codec.decode(MemorySegment.ofArray(bytes), 0), written, 0);
            assertThat(written.toArray(ValueLayout.JAVA_BYTE)).containsExactly(bytes);
        }
    }

    @Test
    void textThatUtf8CannotExpressIsRefused() {
        Codec<String> codec = Codec.ofString(8);
        MemorySegment memory = MemorySegment.ofArray(new byte[8]);
        assertThatThrownBy(() -> codec.encode("a\ud83d", memory, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the text has an unpaired surrogate at index 1 (U+D83D), which UTF-8 can't encode");
        assertThatThrownBy(() -> codec.encode("\udc41", memory, 0)).hasMessageContaining("U+DC41");
    }

    @Test
    void bytesMustBeAsManyAsSaid() {
        Codec<byte[]> codec = Codec.ofBytes(3);
        MemorySegment memory = MemorySegment.ofArray(new byte[] {1, 2, 3, 4});
        assertThat(codec.decode(memory, 1)).containsExactly(2, 3, 4);
        assertThatThrownBy(() -> codec.encode(new byte[2], memory, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Codec.ofBytes(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Codec.ofString(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void unsignedNumbersAreNotNegative() {
        MemorySegment memory = MemorySegment.ofArray(new byte[] {1, -1, -1, -1, -1, -1, 2});
        assertThat(Codec.ofByte().decode(memory, 1)).isEqualTo((byte) -1);
        assertThat(Codec.ofUnsignedByte().decode(memory, 1)).isEqualTo(255);
        assertThat(Codec.ofShort().decode(memory, 1)).isEqualTo((short) -1);
        assertThat(Codec.ofUnsignedShort().decode(memory, 1)).isEqualTo(65_535);
        assertThat(Codec.ofUnsignedInt().decode(memory, 1)).isEqualTo(0xffff_ffffL);
        assertThat(Codec.ofBoolean().decode(memory, 6)).isTrue();
    }

    @Test
    void whatIsWrittenIsRead() {
        MemorySegment memory = MemorySegment.ofArray(new byte[8]);
        assertThat(written(Codec.ofByte(), (byte) -128, memory)).isEqualTo((byte) -128);
        assertThat(written(Codec.ofUnsignedByte(), 200, memory)).isEqualTo(200);
        assertThat(written(Codec.ofShort(), Short.MIN_VALUE, memory)).isEqualTo(Short.MIN_VALUE);
        assertThat(written(Codec.ofUnsignedShort(), 50_000, memory)).isEqualTo(50_000);
        assertThat(written(Codec.ofUnsignedInt(), 4_000_000_000L, memory)).isEqualTo(4_000_000_000L);
        assertThat(written(Codec.ofBoolean(), true, memory)).isTrue();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 1)).isOne();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).as("the byte before").isZero();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 5)).as("the byte after").isZero();
    }

    private static <T> T written(Codec<T> codec, T value, MemorySegment memory) {
        codec.encode(value, memory, 1);
        return codec.decode(memory, 1);
    }

    @Test
    void aNumberThatDoesNotFitIsRefused() {
        MemorySegment memory = MemorySegment.ofArray(new byte[8]);
        assertThatThrownBy(() -> Codec.ofUnsignedByte().encode(256, memory, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("256 does not fit in 1 byte: the range is 0 to 255");
        assertThatThrownBy(() -> Codec.ofUnsignedShort().encode(-1, memory, 0))
                .hasMessage("-1 does not fit in 2 bytes: the range is 0 to 65535");
        assertThatThrownBy(() -> Codec.ofUnsignedInt().encode(1L << 32, memory, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void numbersNeedNoAlignment() {
        MemorySegment memory = MemorySegment.ofArray(new byte[16]);
        Codec.ofLong().encode(-2L, memory, 3);
        assertThat(Codec.ofLong().decode(memory, 3)).isEqualTo(-2L);
        Codec.ofInt().encode(-3, memory, 1);
        assertThat(Codec.ofInt().decode(memory, 1)).isEqualTo(-3);
    }
}
