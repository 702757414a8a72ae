package io.bpf4j.benchmarks;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes objects of any size, which no compiler would make in a moment: ELF files of 64 bits with BTF, little-endian.
 * <i>Confined.</i>
 *
 * <p>Structs are {@code s0}, {@code s1} and so on, each with the members {@code m0} to {@code m9}.
 */
final class SyntheticElf {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int MEMBERS = 10;

    /** The section of all programs. */
    private static final String CODE = "tc";

    /** Programs of {@code mov r0, offset} and {@code exit}: two instructions of 8 bytes. */
    private static final int FUNCTION_BYTES = 16;

    private static final int SHT_PROGBITS = 1;
    private static final int SHT_SYMTAB = 2;
    private static final int SHT_STRTAB = 3;

    /** @param data is not changed after it was added */
    private record Section(String name, int type, ByteBuffer data, int link, int info, int entrySize) {}

    private final List<Section> sections = new ArrayList<>();

    private SyntheticElf() {
        add("", 0, new byte[0], 0, 0, 0);
    }

    /** Types with that many structs, whose first member is at that offset: so the kernel's differ from the object's. */
    private static BtfBuilder structs(int count, int firstOffset) {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("int", 4, BtfType.Int.SIGNED);
        for (int i = 0; i < count; i++) {
            BtfType.Member[] members = new BtfType.Member[MEMBERS];
            for (int member = 0; member < MEMBERS; member++) {
                members[member] = BtfType.Member.at("m" + member, number, firstOffset + 4L * member);
            }
            types.struct("s" + i, firstOffset + 4L * MEMBERS, members);
        }
        return types;
    }

    /** The bytes of a kernel's types, with that many structs. */
    static byte[] kernelTypes(int structs) {
        return structs(structs, 8).toBytes(ORDER);
    }

    /**
     * An object with programs in one section, each with one relocation, or one program with all relocations; each
     * relocation takes the offset of another member.
     *
     * @param relocations at most ten for each struct
     * @param structs of its types
     */
    static byte[] object(int relocations, int structs, boolean inOneProgram) {
        BtfBuilder types = structs(structs, 0);
        int[] accesses = new int[MEMBERS];
        for (int member = 0; member < MEMBERS; member++) {
            accesses[member] = types.string("0:" + member);
        }
        int sectionName = types.string(CODE);

        int functions = inOneProgram ? 1 : relocations;
        ByteBuffer code = buffer(relocations * 8 + functions * 8);
        ByteBuffer relocationTable = buffer(12 + 16 * relocations);
        relocationTable.putInt(16).putInt(sectionName).putInt(relocations);
        for (int i = 0; i < relocations; i++) {
            int member = i % MEMBERS;
            // int is type 1; a field's offset is kind 0.
            relocationTable
                    .putInt(code.position())
                    .putInt(2 + i / MEMBERS % structs)
                    .putInt(accesses[member])
                    .putInt(0);
            code.put((byte) 0xb7).put((byte) 0).putShort((short) 0).putInt(4 * member);
            if (!inOneProgram || i == relocations - 1) {
                code.put((byte) 0x95).put((byte) 0).putShort((short) 0).putInt(0);
            }
        }
        ByteBuffer ext = buffer(32 + relocationTable.capacity());
        ext.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(32);
        ext.putInt(0).putInt(0).putInt(0).putInt(0); // neither functions nor lines
        ext.putInt(0).putInt(relocationTable.capacity()).put(bytes(relocationTable));

        SyntheticElf elf = new SyntheticElf();
        int text = elf.add(CODE, SHT_PROGBITS, bytes(code), 0, 0, 0);
        elf.add("license", SHT_PROGBITS, "GPL\0".getBytes(StandardCharsets.US_ASCII), 0, 0, 0);
        elf.add(".BTF", SHT_PROGBITS, types.toBytes(ORDER), 0, 0, 0);
        elf.add(".BTF.ext", SHT_PROGBITS, bytes(ext), 0, 0, 0);

        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write(0);
        ByteBuffer symbols = buffer(24 * (functions + 1));
        symbols.position(24);
        int size = inOneProgram ? code.capacity() : FUNCTION_BYTES;
        for (int i = 0; i < functions; i++) {
            // A global function.
            symbols.putInt(names.size())
                    .put((byte) 0x12)
                    .put((byte) 0)
                    .putShort((short) text)
                    .putLong((long) size * i)
                    .putLong(size);
            names.writeBytes(("f" + i + "\0").getBytes(StandardCharsets.US_ASCII));
        }
        int strings = elf.add(".strtab", SHT_STRTAB, names.toByteArray(), 0, 0, 0);
        elf.add(".symtab", SHT_SYMTAB, bytes(symbols), strings, 1, 24);
        return elf.build();
    }

    /** A module whose distilled base has that many integers of one name. Its kernel: {@link #oneName}. */
    static byte[] moduleOfOneName(int integers) {
        BtfBuilder base = named(integers);
        Btf read = base.build("base", ORDER);
        BtfBuilder types = BtfBuilder.split(read);
        types.pointer(1);
        SyntheticElf elf = new SyntheticElf();
        elf.add(".BTF.base", SHT_PROGBITS, base.toBytes(ORDER), 0, 0, 0);
        elf.add(".BTF", SHT_PROGBITS, types.toBytes(ORDER), 0, 0, 0);
        return elf.build();
    }

    /** A kernel's types with that many integers of one name. */
    static Btf oneName(int integers) {
        return named(integers).build("kernel", ORDER);
    }

    private static BtfBuilder named(int integers) {
        BtfBuilder types = BtfBuilder.create();
        for (int i = 0; i < integers; i++) {
            types.integer("same", 4, 0);
        }
        return types;
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ORDER);
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(0, bytes);
        return bytes;
    }

    private int add(String name, int type, byte[] data, int link, int info, int entrySize) {
        sections.add(new Section(name, type, ByteBuffer.wrap(data), link, info, entrySize));
        return sections.size() - 1;
    }

    private byte[] build() {
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        int nameIndex = sections.size();
        List<Integer> nameOffsets = new ArrayList<>();
        for (Section section : sections) {
            nameOffsets.add(names.size());
            names.writeBytes((section.name + "\0").getBytes(StandardCharsets.US_ASCII));
        }
        nameOffsets.add(names.size());
        names.writeBytes(".shstrtab\0".getBytes(StandardCharsets.US_ASCII));
        add(".shstrtab", SHT_STRTAB, names.toByteArray(), 0, 0, 0);

        ByteArrayOutputStream contents = new ByteArrayOutputStream();
        ByteBuffer headers = buffer(64 * sections.size());
        for (int i = 0; i < sections.size(); i++) {
            Section section = sections.get(i);
            headers.putInt(nameOffsets.get(i)).putInt(section.type);
            headers.putLong(section.name.equals(CODE) ? 6 : 0).putLong(0); // SHF_ALLOC and SHF_EXECINSTR
            headers.putLong(i == 0 ? 0 : 64 + contents.size()).putLong(section.data.capacity());
            headers.putInt(section.link)
                    .putInt(section.info)
                    .putLong(i == 0 ? 0 : 8)
                    .putLong(section.entrySize);
            contents.writeBytes(bytes(section.data));
            contents.writeBytes(new byte[-section.data.capacity() & 7]);
        }
        ByteBuffer file = buffer(64 + contents.size() + headers.capacity());
        file.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1}).position(16);
        file.putShort((short) 1).putShort((short) 247).putInt(1); // relocatable, EM_BPF
        file.putLong(0).putLong(0).putLong(64 + contents.size()).putInt(0);
        file.putShort((short) 64).putShort((short) 0).putShort((short) 0).putShort((short) 64);
        file.putShort((short) sections.size()).putShort((short) nameIndex);
        return bytes(file.put(contents.toByteArray()).put(bytes(headers)));
    }
}
