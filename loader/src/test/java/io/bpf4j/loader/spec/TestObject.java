package io.bpf4j.loader.spec;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Writes object files that no compiler would: tests say section by section, symbol by symbol and type by type what is
 * in them. Little-endian.
 *
 * <pre>{@code
 * TestObject object = new TestObject();
 * object.map("hash", object.number("type", 1), object.number("max_entries", 7), …);
 * ObjectSpec spec = object.parse();
 * }</pre>
 */
public final class TestObject {
    private static final int EM_BPF = 247;
    private static final int EXEC = 4;

    public final BtfBuilder types = BtfBuilder.create();
    public final int integer = types.integer("int", 4, BtfType.Int.SIGNED);

    private final List<Header> sections = new ArrayList<>(List.of(new Header("", 0, 0, new byte[0])));
    private final Map<Integer, List<long[]>> relocations = new LinkedHashMap<>();
    private final Map<String, List<BtfType.SectionVariable>> datasecs = new LinkedHashMap<>();
    private final Map<String, Integer> byName = new HashMap<>();
    private final ByteArrayOutputStream symbols = new ByteArrayOutputStream();
    private final ByteArrayOutputStream strings = new ByteArrayOutputStream();
    private int symbolCount;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Header(String name, int type, long flags, byte[] data) {}

    public TestObject() {
        strings.write(0);
        symbol("", 0, 0, 0, Symbol.STT_NOTYPE, Symbol.STB_LOCAL, Symbol.STV_DEFAULT);
    }

    public int section(String name, int type, long flags, byte[] data) {
        sections.add(new Header(name, type, flags, data));
        byName.put(name, sections.size() - 1);
        return sections.size() - 1;
    }

    /** A section of variables. */
    public int data(String name, byte[] data) {
        return section(name, Section.SHT_PROGBITS, Section.SHF_ALLOC, data);
    }

    public int symbol(String name, int section, long value, long size, int type, int binding, int visibility) {
        ByteBuffer entry = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        entry.putInt(string(name)).put((byte) (binding << 4 | type)).put((byte) visibility);
        entry.putShort((short) section).putLong(value).putLong(size);
        symbols.writeBytes(entry.array());
        return symbolCount++;
    }

    private int string(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        int offset = strings.size();
        strings.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        strings.write(0);
        return offset;
    }

    public void relocation(int section, long offset, int symbol) {
        relocations.computeIfAbsent(section, _ -> new ArrayList<>()).add(new long[] {offset, (long) symbol << 32 | 1});
    }

    /** A variable in a section, with its BTF; gives the id of that. */
    public int variable(String section, String name, int type, long offset, long size, int linkage, int visibility) {
        int id = types.add(new BtfType.Var(name, type, linkage));
        // Clang leaves the offsets of what has a symbol that a linker sees to the linker.
        boolean isStatic = linkage == BtfType.Linkage.STATIC;
        datasecs.computeIfAbsent(section, _ -> new ArrayList<>())
                .add(new BtfType.SectionVariable(id, isStatic ? offset : 0, size));
        symbol(
                name,
                Objects.requireNonNull(byName.get(section)),
                offset,
                size,
                Symbol.STT_OBJECT,
                isStatic ? Symbol.STB_LOCAL : Symbol.STB_GLOBAL,
                visibility);
        return id;
    }

    /** An undefined symbol that BTF declares in a section such as {@code .kconfig}. */
    public int extern(String section, String name, int type, boolean weak) {
        int id = types.add(new BtfType.Var(name, type, BtfType.Linkage.EXTERN));
        datasecs.computeIfAbsent(section, _ -> new ArrayList<>()).add(new BtfType.SectionVariable(id, 0, 4));
        return symbol(name, 0, 0, 0, Symbol.STT_NOTYPE, weak ? Symbol.STB_WEAK : Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
    }

    /** A program in a section of its own; gives the section. */
    public int program(String section, String name, Instruction... code) {
        int index = section(
                section,
                Section.SHT_PROGBITS,
                Section.SHF_ALLOC | EXEC,
                Instructions.encode(List.of(code), ByteOrder.LITTLE_ENDIAN));
        symbol(name, index, 0, code.length * 8L, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        return index;
    }

    // Maps, as the macros of bpf_helpers.h make them

    /** {@code __uint(name, value)}. */
    public BtfType.Member number(String name, long value) {
        return member(name, types.pointer(types.array(integer, integer, value)));
    }

    /** {@code __ulong(name, value)}. */
    public BtfType.Member wideNumber(String name, long value) {
        return member(
                name,
                types.add(new BtfType.Enum64("", 8, false, List.of(new BtfType.EnumValue("unique_value0", value)))));
    }

    /** {@code __type(name, type)}. */
    public BtfType.Member type(String name, int type) {
        return member(name, types.pointer(type));
    }

    /** {@code __array(name, type)}. */
    public BtfType.Member array(String name, int type) {
        return member(name, types.array(types.pointer(type), integer, 0));
    }

    public static BtfType.Member member(String name, int type) {
        return new BtfType.Member(name, type, 0, 0);
    }

    /** The struct of a definition: its members one behind the other. */
    public int definition(BtfType.Member... members) {
        List<BtfType.Member> placed = new ArrayList<>();
        for (BtfType.Member member : members) {
            placed.add(BtfType.Member.at(member.name(), member.type(), placed.size() * 8L));
        }
        boolean values = !placed.isEmpty() && placed.getLast().name().equals("values");
        return types.add(new BtfType.Struct("", (placed.size() - (values ? 1 : 0)) * 8L, placed));
    }

    /** A map in {@code .maps} with room for 8 values behind its members; gives its symbol. */
    public int map(String name, BtfType.Member... members) {
        if (!byName.containsKey(".maps")) {
            section(".maps", Section.SHT_PROGBITS, Section.SHF_ALLOC | 1, new byte[4096]);
        }
        long offset = datasecs.getOrDefault(".maps", List.of()).size() * 256L;
        variable(
                ".maps",
                name,
                definition(members),
                offset,
                members.length * 8L + 64,
                BtfType.Linkage.GLOBAL,
                Symbol.STV_DEFAULT);
        return symbolCount - 1;
    }

    // The file

    public ObjectSpec parse() {
        return ObjectSpec.parse("test.o", bytes());
    }

    public byte[] bytes() {
        datasecs.forEach((name, variables) -> types.add(new BtfType.Datasec(name, 0, variables)));
        datasecs.clear();
        List<Header> all = new ArrayList<>(sections);
        all.add(new Header(".BTF", Section.SHT_PROGBITS, 0, types.toBytes(ByteOrder.LITTLE_ENDIAN)));
        int symtab = all.size() + relocations.size();
        Map<Integer, Integer> targets = new HashMap<>();
        relocations.forEach((section, entries) -> {
            ByteBuffer table = ByteBuffer.allocate(entries.size() * 16).order(ByteOrder.LITTLE_ENDIAN);
            entries.forEach(entry -> table.putLong(entry[0]).putLong(entry[1]));
            targets.put(all.size(), section);
            all.add(new Header(".rel" + sections.get(section).name(), Section.SHT_REL, 0, table.array()));
        });
        all.add(new Header(".symtab", Section.SHT_SYMTAB, 0, symbols.toByteArray()));
        for (Header section : all) {
            string(section.name());
        }
        string(".strtab");
        all.add(new Header(".strtab", Section.SHT_STRTAB, 0, strings.toByteArray()));
        return file(all, targets, symtab);
    }

    private static byte[] file(List<Header> all, Map<Integer, Integer> targets, int symtab) {
        int size = 64;
        for (Header section : all) {
            size += (section.data().length + 7) / 8 * 8;
        }
        ByteBuffer file = ByteBuffer.allocate(size + all.size() * 64).order(ByteOrder.LITTLE_ENDIAN);
        file.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1, 0}).putLong(0);
        file.putShort((short) 1)
                .putShort((short) EM_BPF)
                .putInt(1)
                .putLong(0)
                .putLong(0)
                .putLong(size);
        file.putInt(0).putShort((short) 64).putShort((short) 0).putShort((short) 0);
        file.putShort((short) 64).putShort((short) all.size()).putShort((short) (all.size() - 1));
        byte[] strings = all.getLast().data();
        int at = 64;
        for (int i = 0; i < all.size(); i++) {
            Header section = all.get(i);
            file.put(at, section.data());
            file.position(size + i * 64);
            boolean table = section.type() == Section.SHT_REL || section.type() == Section.SHT_SYMTAB;
            file.putInt(indexOf(strings, section.name())).putInt(section.type()).putLong(section.flags());
            file.putLong(0).putLong(at).putLong(section.data().length);
            file.putInt(
                    section.type() == Section.SHT_REL
                            ? symtab
                            : section.type() == Section.SHT_SYMTAB ? all.size() - 1 : 0);
            file.putInt(targets.getOrDefault(i, section.type() == Section.SHT_SYMTAB ? 1 : 0));
            file.putLong(8).putLong(!table ? 0 : section.type() == Section.SHT_REL ? 16 : 24);
            at += (section.data().length + 7) / 8 * 8;
        }
        return file.array();
    }

    private static int indexOf(byte[] strings, String text) {
        if (text.isEmpty()) {
            return 0;
        }
        // Latin-1 keeps one character per byte, so that the index is the offset.
        String all = new String(strings, StandardCharsets.ISO_8859_1);
        return all.indexOf("\0" + text + "\0") + 1;
    }
}
