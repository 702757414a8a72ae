package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NoteReaderTest {
    private static ByteWriter writer() {
        return new ByteWriter(ElfClass.ELF64, ByteOrder.LITTLE_ENDIAN);
    }

    private static List<Note> read(ByteWriter bytes, long alignment) {
        List<Note> notes = new ArrayList<>();
        ByteView view = ByteView.of("notes", bytes.toByteArray(), ByteOrder.LITTLE_ENDIAN);
        NoteReader.read(view, alignment, Optional.empty(), ElfLimits.defaults(), notes);
        return notes;
    }

    private static byte[] bytes(Note note) {
        return note.description().toByteArray();
    }

    @Test
    void paddingTo4() {
        ByteWriter two = writer().u32(5).u32(3).u32(1).string("five").align(4);
        two.raw(new byte[] {1, 2, 3, 0}).u32(4).u32(0).u32(2).string("GNU");
        for (long alignment : new long[] {0, 1, 2, 4, 16}) {
            List<Note> notes = read(two, alignment);
            assertThat(notes).extracting(Note::owner).containsExactly("five", "GNU");
            assertThat(bytes(notes.getFirst())).containsExactly(1, 2, 3);
            assertThat(bytes(notes.getLast())).isEmpty();
        }
    }

    @Test
    void paddingTo8() {
        // The name ends at 17, the description goes from 24 to 27, the next note starts at 32.
        ByteWriter two = writer().u32(5).u32(3).u32(1).string("five").align(8);
        two.raw(new byte[] {1, 2, 3})
                .align(8)
                .u32(4)
                .u32(1)
                .u32(2)
                .string("GNU")
                .u8(9);
        List<Note> notes = read(two, 8);
        assertThat(notes).extracting(Note::owner).containsExactly("five", "GNU");
        assertThat(bytes(notes.getFirst())).containsExactly(1, 2, 3);
        assertThat(bytes(notes.getLast())).containsExactly(9);
        assertThat(notes.getFirst().description().base()).isEqualTo(24);
    }

    @Test
    void theEndMayLackPaddingOrHaveMore() {
        assertThat(read(writer().u32(2).u32(1).u32(0).string("x").align(4).u8(7), 4))
                .hasSize(1);
        assertThat(read(writer().u32(2).u32(0).u32(0).string("x"), 4)).hasSize(1);
        assertThat(read(writer().u32(2).u32(0).u32(0).string("x").align(4).u64(0), 4))
                .hasSize(1);
        assertThat(read(writer(), 4)).isEmpty();
    }

    @Test
    void namesWithoutNulAndWithoutName() {
        List<Note> notes =
                read(writer().u32(4).u32(0).u32(0).u32(0x44434241).u32(0).u32(0).u32(7), 4);
        assertThat(notes).extracting(Note::owner).containsExactly("ABCD", "");
        assertThat(notes).extracting(Note::type).containsExactly(0, 7);
    }

    @Test
    void sizesThatDoNotFit() {
        assertThatThrownBy(() -> read(writer().u32(0xffffffffL).u32(0).u32(0), 4))
                .isInstanceOf(MalformedDataException.class)
                .hasMessage("notes at 0x0: note with a name of 4294967295 and a description of 0 bytes, but only 0"
                        + " remain");
        assertThatThrownBy(() -> read(writer().u32(4).u32(0xffffffffL).u32(0).string("GNU"), 4))
                .isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> read(writer().u32(4).u32(1).u32(0).string("GNU"), 4))
                .isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(
                        () -> read(writer().u32(4).u32(0).u32(0).string("GNU").u32(1), 4))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("cut short");
    }
}
