package io.bpf4j.elf;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Reads notes, one after the other as they stand in a section or segment:
 *
 * <pre>
 *   04 00 00 00  14 00 00 00  03 00 00 00  47 4e 55 00   5d 1f ...
 *   namesz 4     descsz 20    type 3       "GNU\0"       description: a build ID
 * </pre>
 *
 * The three numbers have 32 bits in both classes. Name and description are each padded, and by how much is where
 * readers differ. The gABI wants 8 bytes in 64-bit files, nobody did that, and 4 became the rule in both classes; then
 * {@code .note.gnu.property} came with true 8-byte alignment. So the alignment that the section or segment declares
 * decides: 8 means that descriptions and the next note start at multiples of 8 from the start, and everything else, 0
 * and 1 included, means 4. (With 8 a 5-byte name ends at 17 and its description starts at 24, not 20.) The padding
 * counts from the start of the section or segment; the linkers never mix alignments in one PT_NOTE segment.
 *
 * <p>The last description needs no padding after it, and fewer bytes than a header may remain if all are zero.
 */
final class NoteReader {
    private static final int HEADER_SIZE = 12;

    private NoteReader() {}

    /** Adds all notes in {@code data} to {@code notes}. */
    static void read(ByteView data, long alignment, Optional<String> section, ElfLimits limits, List<Note> notes) {
        long padding = alignment == 8 ? 8 : 4;
        long at = 0;
        while (data.size() - at >= HEADER_SIZE) {
            long nameSize = data.u32(at);
            long descriptionSize = data.u32(at + 4);
            int type = data.s32(at + 8);
            long name = at + HEADER_SIZE;
            long description = roundUp(name + nameSize, padding);
            // A note that has no description needs no padding to where it would be.
            if (name + nameSize > data.size() || (descriptionSize > 0 && description + descriptionSize > data.size())) {
                throw data.malformed(
                        at,
                        "note with a name of " + nameSize + " and a description of " + descriptionSize
                                + " bytes, but only " + (data.size() - name) + " remain");
            }
            if (notes.size() == limits.maxSections()) {
                throw data.malformed(
                        at, "more than the " + limits.maxSections() + " notes that are accepted; raise ElfLimits");
            }
            notes.add(new Note(
                    section,
                    owner(data.slice(name, nameSize)),
                    type,
                    descriptionSize == 0
                            ? data.slice(Math.min(description, data.size()), 0)
                            : data.slice(description, descriptionSize)));
            at = Math.min(roundUp(description + descriptionSize, padding), data.size());
        }
        for (; at < data.size(); at++) {
            if (data.u8(at) != 0) {
                throw data.malformed(at, "note cut short: less than the 12 bytes of its header remain");
            }
        }
    }

    /** The size bounds a name already; some writers forgot the NUL that should end it. */
    private static String owner(ByteView name) {
        byte[] bytes = name.toByteArray();
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private static long roundUp(long value, long multiple) {
        return (value + multiple - 1) & -multiple;
    }
}
