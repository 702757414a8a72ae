package io.bpf4j.loader.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** A view as generated code writes it, and the codec of its record. */
class StructViewTest {
    /** {@code struct { __u32 id; __s16 level; __u8 kind; __u8 flag : 1, mode : 3; __u16 data[]; }}. */
    record Sample(long id, short level, int kind, boolean flag, int mode) {
        static final StructCodec<Sample, View> CODEC = StructCodec.of(8, View::new, View::toRecord, View::set);

        static final class View extends StructView {
            View(MemorySegment segment, long offset) {
                super(segment, offset, 8);
            }

            long id() {
                return getU32(0);
            }

            View id(long value) {
                setU32(0, value);
                return this;
            }

            int mode() {
                return (int) getBits(57, 3);
            }

            View mode(int value) {
                setBits(57, 3, value);
                return this;
            }

            View signedMode(int value) {
                setSignedBits(57, 3, value);
                return this;
            }

            int signedMode() {
                return (int) getSignedBits(57, 3);
            }

            int dataCount() {
                return elementsFrom(8, 2);
            }

            int data(int index) {
                return getU16(element(8, 2, dataCount(), index));
            }

            View inner() {
                return nested(View::new, 8);
            }

            Sample toRecord() {
                return new Sample(id(), getShort(4), getU8(6), getBits(56, 1) != 0, mode());
            }

            View set(Sample value) {
                clear(7, 1);
                id(value.id());
                setShort(4, value.level());
                setU8(6, value.kind());
                setBits(56, 1, value.flag() ? 1 : 0);
                return mode(value.mode());
            }
        }
    }

    /** Memory of so many bytes, all 0. */
    private static MemorySegment memory(int size) {
        return MemorySegment.ofArray(new byte[size]);
    }

    @Test
    void aValueIsWrittenAndReadAtAnyOffset() {
        Sample sample = new Sample(0xffff_fffeL, (short) -3, 200, true, 5);
        MemorySegment segment = memory(11);
        segment.fill((byte) 0xee);
        Sample.CODEC.encode(sample, segment, 3);
        assertThat(Sample.CODEC.decode(segment, 3)).isEqualTo(sample);
        assertThat(segment.get(ValueLayout.JAVA_INT_UNALIGNED, 3)).isEqualTo(-2);
        assertThat(segment.get(ValueLayout.JAVA_SHORT_UNALIGNED, 7)).isEqualTo((short) -3);
        assertThat(segment.get(ValueLayout.JAVA_BYTE, 9)).isEqualTo((byte) 200);
        assertThat(segment.asSlice(0, 3).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0xee);
    }

    @Test
    void aViewMovesFromStructToStruct() {
        MemorySegment segment = memory(24);
        for (int i = 0; i < 3; i++) {
            segment.set(ValueLayout.JAVA_INT_UNALIGNED, 8L * i, i + 1);
        }
        Sample.View view = Sample.CODEC.view(segment);
        assertThat(view.id()).isEqualTo(1);
        view.moveTo(segment, 16);
        assertThat(view.id()).isEqualTo(3);
        assertThat(view.segment().byteSize()).isEqualTo(8);
        assertThatThrownBy(() -> view.moveTo(segment, 17))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a struct of 8 bytes does not fit in 7 bytes");
        assertThatThrownBy(() -> view.moveTo(segment, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(view.id()).as("where it was").isEqualTo(3);
        assertThatThrownBy(() -> Sample.CODEC.view(segment.asSlice(0, 7))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aNestedViewEndsWhereTheOuterOneDoes() {
        MemorySegment segment = memory(40);
        Sample.View view = Sample.CODEC.view(segment);
        view.moveTo(segment, 8, 20);
        Sample.View inner = view.inner();
        assertThat(inner.segment().byteSize()).isEqualTo(12);
        inner.id(7);
        assertThat(Sample.CODEC.decode(segment, 16).id()).isEqualTo(7);
    }

    @Test
    void aFlexibleArrayEndsWithTheMemory() {
        MemorySegment segment = memory(13);
        segment.set(ValueLayout.JAVA_SHORT_UNALIGNED, 8, (short) 7);
        segment.set(ValueLayout.JAVA_SHORT_UNALIGNED, 10, (short) -1);
        Sample.View view = Sample.CODEC.view(segment);
        assertThat(view.dataCount()).isEqualTo(2);
        assertThat(view.data(0)).isEqualTo(7);
        assertThat(view.data(1)).isEqualTo(0xffff);
        assertThatThrownBy(() -> view.data(2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> view.data(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void whatDoesNotFitIsRefusedAndChangesNothing() {
        Sample.View view = Sample.CODEC.view(memory(8));
        view.id(5).mode(7);
        assertThatThrownBy(() -> view.id(1L << 32))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("4294967296 does not fit: the range is 0 to 4294967295");
        assertThatThrownBy(() -> view.id(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> view.mode(8)).hasMessage("8 does not fit: the range is 0 to 7");
        assertThatThrownBy(() -> view.signedMode(4)).hasMessageContaining("signed bit-field of 3 bits");
        assertThat(view.id()).isEqualTo(5);
        assertThat(view.mode()).isEqualTo(7);
        assertThat(view.signedMode()).isEqualTo(-1);
        assertThat(view.signedMode(-4).signedMode()).isEqualTo(-4);
    }

    @Test
    void nothingIsWrittenToReadOnlyMemory() {
        Sample.View view = Sample.CODEC.view(memory(8).asReadOnly());
        assertThat(view.id()).isZero();
        assertThatThrownBy(() -> view.id(1)).isInstanceOf(IllegalArgumentException.class);
    }
}
