package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnwindTableTest {
    /** push %rbp; mov %rsp,%rbp; ten bytes of code; pop %rbp; ret. */
    private static final String FRAME = "41 0e 10 86 02 43 0d 06 4a 0c 07 08";

    /** sub $24,%rsp. */
    private static final String NO_POINTER = "44 0e 20";

    private static final byte[] TABLE = new SmallUnwindTable()
            .common()
            .function(0x1000, 0x10, "")
            .function(0x1010, 0x10, FRAME)
            .function(0x1020, 0x10, NO_POINTER)
            .bytes();

    private static Set<Long> frameless(byte[] table, Long... addresses) {
        return UnwindTable.frameless(
                ByteView.of("table", table, ByteOrder.LITTLE_ENDIAN), SmallUnwindTable.START, List.of(addresses));
    }

    @Test
    void codeHasAFrameFromWhereTheFramePointerIsSetToWhereItIsRestored() {
        assertThat(frameless(TABLE, 0x1000L, 0x100fL, 0x1010L, 0x1011L, 0x1014L, 0x101dL, 0x101eL, 0x1024L))
                .containsExactlyInAnyOrder(0x1000L, 0x100fL, 0x1010L, 0x1011L, 0x101eL, 0x1024L);
    }

    @Test
    void nothingIsSaidOfCodeThatTheTableLacks() {
        assertThat(frameless(TABLE, 0xfffL, 0x1030L)).isEmpty();
        assertThat(frameless(new byte[0], 0x1000L)).isEmpty();
    }

    /** remember_state, restore_state: a function with a return in its middle. */
    @Test
    void aRememberedFrameComesBack() {
        byte[] table = new SmallUnwindTable()
                .common()
                .function(0x1000, 0x20, "41 0e 10 86 02 43 0d 06 44 0a 0c 07 08 42 0b")
                .bytes();
        assertThat(frameless(table, 0x1007L, 0x1008L, 0x1009L, 0x100aL)).containsExactlyInAnyOrder(0x1008L, 0x1009L);
    }

    /** An expression, an unknown instruction, an unknown augmentation, an address by reference. */
    @Test
    void nothingIsSaidOfWhatIsNotUnderstood() {
        assertThat(frameless(
                        new SmallUnwindTable()
                                .common()
                                .function(0x1000, 8, "0f 02 77 08")
                                .bytes(),
                        0x1000L))
                .isEmpty();
        assertThat(frameless(
                        new SmallUnwindTable()
                                .common()
                                .function(0x1000, 8, "3f")
                                .bytes(),
                        0x1000L))
                .isEmpty();
        assertThat(frameless(
                        new SmallUnwindTable()
                                .common("zX", "01 1b")
                                .function(0x1000, 8, "")
                                .bytes(),
                        0x1000L))
                .isEmpty();
        assertThat(frameless(
                        new SmallUnwindTable()
                                .common("zR", "01 9b")
                                .function(0x1000, 8, "")
                                .bytes(),
                        0x1000L))
                .isEmpty();
    }

    /** A personality routine and data for it, as C++ has them. */
    @Test
    void augmentationDataIsSkipped() {
        byte[] table = new SmallUnwindTable()
                .common("zPLR", "07 9b 11 22 33 00 1b 1b")
                .function(0x1000, 8, "")
                .bytes();
        assertThat(frameless(table, 0x1000L)).containsExactly(0x1000L);
    }

    @Test
    void aBrokenTableIsRefusedOrReadWithoutAnotherException() {
        for (int length = 0; length < TABLE.length; length++) {
            read(Arrays.copyOf(TABLE, length));
        }
        for (int bit = 0; bit < TABLE.length * 8; bit++) {
            byte[] flipped = TABLE.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            read(flipped);
        }
        assertThatThrownBy(() -> frameless(Arrays.copyOf(TABLE, 30), 0x1000L))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining(".eh_frame");
    }

    private static void read(byte[] table) {
        try {
            assertThat(frameless(table, 0x1000L, 0x1014L, 0x1024L)).hasSizeLessThanOrEqualTo(3);
        } catch (MalformedDataException e) {
            assertThat(e).hasMessageContaining("table");
        }
    }
}
