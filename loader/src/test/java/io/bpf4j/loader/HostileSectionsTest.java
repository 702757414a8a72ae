package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType;
import io.bpf4j.core.CoreRelocationKind;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Section headers that no linker makes. */
class HostileSectionsTest extends HostileObject {
    @Test
    void compressedSections() {
        object.program("socket", "prog", MOV, EXIT);
        byte[] bytes = object.bytes();
        for (String name : List.of(".BTF", ".symtab", ".strtab", "socket")) {
            byte[] changed = bytes.clone();
            ByteBuffer file = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
            int header = header(bytes, name);
            file.putLong(header + 8, file.getLong(header + 8) | Section.SHF_COMPRESSED);
            assertThatThrownBy(() -> ObjectSpec.parse("test.o", changed))
                    .as(name)
                    .hasMessageStartingWith("test.o")
                    .isInstanceOfAny(InvalidObjectException.class, MalformedDataException.class);
        }
    }

    /** Every number of every section header, made what no linker makes it. */
    @Test
    void sectionHeadersThatLie() {
        object.data(".data", new byte[16]);
        object.variable(".data", "v", object.integer, 0, 4, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        object.map(
                "map",
                object.number("type", 1),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 1));
        relocations.add(0, object.integer, "0", CoreRelocationKind.TYPE_EXISTS.number());
        int program = object.program("socket", "prog", LOAD, LOAD_2, EXIT);
        object.section(".BTF.ext", Section.SHT_PROGBITS, 0, relocations.ext("socket"));
        object.relocation(program, 0, 2);
        byte[] bytes = object.bytes();
        ByteBuffer original = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) original.getLong(40);
        int count = original.getShort(60);
        int read = 0;
        for (int field = first; field < first + count * 64; field += 4) {
            int place = (field - first) % 64;
            boolean wide = (place >= 8 && place < 40) || place >= 48;
            for (long value :
                    new long[] {0, 1, 2, 7, 8, count - 1, count, 64, 0x7fff_ffffL, -1, Long.MIN_VALUE, bytes.length}) {
                byte[] changed = bytes.clone();
                ByteBuffer file = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
                if (wide && field % 8 == 0) {
                    file.putLong(field, value);
                } else {
                    file.putInt(field, (int) value);
                }
                if (outcome(changed) != Outcome.UNREADABLE) {
                    read++;
                }
            }
        }
        assertThat(read).isPositive();
    }

    private static int header(byte[] bytes, String name) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) file.getLong(40);
        int names = (int) file.getLong(first + 64 * file.getShort(62) + 24);
        for (int i = 1; i < file.getShort(60); i++) {
            int header = first + 64 * i;
            byte[] wanted = (name + "\0").getBytes(StandardCharsets.US_ASCII);
            int at = names + file.getInt(header);
            if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return header;
            }
        }
        throw new AssertionError("no section " + name);
    }
}
