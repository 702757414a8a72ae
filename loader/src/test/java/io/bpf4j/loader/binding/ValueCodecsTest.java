package io.bpf4j.loader.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.Codec;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class ValueCodecsTest {
    private static <T> T copy(Codec<T> codec, T value) {
        MemorySegment segment = MemorySegment.ofArray(new byte[(int) codec.size() + 1]);
        codec.encode(value, segment, 1);
        return codec.decode(segment, 1);
    }

    @Test
    void valuesComeBack() {
        assertThat(copy(Codec.ofFloat(), 1.5f)).isEqualTo(1.5f);
        assertThat(copy(Codec.ofDouble(), -0.1)).isEqualTo(-0.1);
        assertThat(copy(ValueCodecs.ofBooleans(2), new boolean[] {true, false})).containsExactly(true, false);
        assertThat(copy(ValueCodecs.ofShorts(2), new short[] {-1, 2})).containsExactly(-1, 2);
        assertThat(copy(ValueCodecs.ofUnsignedShorts(2), new int[] {0xffff, 2})).containsExactly(0xffff, 2);
        assertThat(copy(ValueCodecs.ofInts(2), new int[] {-1, 2})).containsExactly(-1, 2);
        assertThat(copy(ValueCodecs.ofUnsignedInts(2), new long[] {0xffff_ffffL, 2}))
                .containsExactly(0xffff_ffffL, 2);
        assertThat(copy(ValueCodecs.ofLongs(2), new long[] {-1, 2})).containsExactly(-1, 2);
        assertThat(copy(ValueCodecs.ofFloats(2), new float[] {1, 2})).containsExactly(1, 2);
        assertThat(copy(ValueCodecs.ofDoubles(2), new double[] {1, 2})).containsExactly(1, 2);
        assertThat(copy(ValueCodecs.ofList(Codec.ofString(4), 2), List.of("ab", "cdef")))
                .containsExactly("ab", "cdef");
        assertThat(copy(ValueCodecs.wrapped(Codec.ofInt(), String::valueOf, Integer::valueOf), "-7"))
                .isEqualTo("-7");
    }

    @Test
    void sizesAreThoseOfC() {
        assertThat(ValueCodecs.ofBooleans(3).size()).isEqualTo(3);
        assertThat(ValueCodecs.ofShorts(3).size()).isEqualTo(6);
        assertThat(ValueCodecs.ofUnsignedInts(3).size()).isEqualTo(12);
        assertThat(ValueCodecs.ofDoubles(3).size()).isEqualTo(24);
        assertThat(ValueCodecs.ofList(Codec.ofString(5), 3).size()).isEqualTo(15);
    }

    @Test
    void anArrayOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> copy(ValueCodecs.ofLongs(2), new long[3]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the array has 2 elements in C, not 3");
        assertThatThrownBy(() -> copy(ValueCodecs.ofList(Codec.ofInt(), 2), List.of(1)))
                .hasMessage("the array has 2 elements in C, not 1");
        assertThatThrownBy(() -> copy(ValueCodecs.ofUnsignedShorts(1), new int[] {65_536}))
                .hasMessageContaining("65536 does not fit");
    }

    @Test
    void aNegativeLengthIsRefused() {
        assertThatThrownBy(() -> ValueCodecs.ofInts(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("an array can't have -1 elements");
        assertThatThrownBy(() -> ValueCodecs.ofUnsignedInts(-1)).hasMessage("an array can't have -1 elements");
        assertThatThrownBy(() -> ValueCodecs.ofList(Codec.ofInt(), -1)).hasMessage("an array can't have -1 elements");
    }
}
