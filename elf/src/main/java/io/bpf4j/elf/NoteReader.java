package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.CString;
import java.util.List;
import java.util.Optional;

/**
 * Reads the consecutive notes of a section or segment:
 *
 * <pre>
 *   04 00 00 00  14 00 00 00  03 00 00 00  47 4e 55 00   5d 1f ...
 *   namesz 4     descsz 20    type 3       "GNU\0"       description: a build ID
 * </pre>
 *
 * The three numbers have 32 bits in both classes. Name and description are each padded, and readers differ in the
 * alignment. The gABI requires 8 bytes in 64-bit files, but tools used 4 in both classes; later {@code
 * .note.gnu.property} was added with real 8-byte alignment. So the declared alignment of the section or segment
 * decides: 8 means that descriptions and the next note start at multiples of 8 from the start; every other value,
 * including 0 and 1, means 4. (With 8 a 5-byte name ends at 17 and its description starts at 24, not 20.) The padding
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
            // A note without a description needs no padding after its name.
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
                    // Some writers omit the NUL.
                    CString.of(data.slice(name, nameSize).toByteArray()),
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

    private static long roundUp(long value, long multiple) {
        return (value + multiple - 1) & -multiple;
    }
}
