package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The {@code .BTF.ext} section of a BPF object: clang's information about each instruction.
 *
 * <p>It has three tables, each a list of ELF sections with their records: function starts, source lines, and CO-RE
 * relocations. A record's place is a byte offset in its ELF section; the loader converts it to an instruction index of
 * the program. Strings are offsets into the strings of {@code .BTF}, types are ids of {@code .BTF}.
 *
 * <pre>
 *   header   u16 magic eb9f, u8 version, u8 flags, u32 hdr_len,
 *            u32 func_info_off, u32 func_info_len, u32 line_info_off, u32 line_info_len
 *            u32 core_relo_off, u32 core_relo_len       only if hdr_len is at least 32
 *   table    u32 record_size, then for each ELF section:
 *            u32 sec_name_off, u32 num_info, num_info records
 * </pre>
 *
 * <p>Records may be larger than the decoded fields, because a newer compiler may append fields: {@link
 * Table#recordSize()} has the size and {@link Section#raw()} the bytes. Source: {@code Documentation/bpf/btf.rst}.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code BtfTest}.
 */
public final class BtfExt {
    private static final int FUNC_INFO_BYTES = 8;
    private static final int LINE_INFO_BYTES = 16;
    private static final int CORE_RELOCATION_BYTES = 16;

    private final Table<FuncInfo> functions;
    private final Table<LineInfo> lines;
    private final Table<CoreRelocation> relocations;

    /** The records of one kind. <i>Immutable.</i> */
    public static final class Table<T> {
        private final int recordSize;
        private final List<Section<T>> sections;
        /** An index, because each of many sections of a file is looked up. */
        private final Map<String, List<T>> byName = new HashMap<>();

        private Table(int recordSize, List<Section<T>> sections) {
            this.recordSize = recordSize;
            this.sections = List.copyOf(sections);
            for (Section<T> section : sections) {
                byName.computeIfAbsent(section.name(), _ -> new ArrayList<>()).addAll(section.records());
            }
        }

        /** Bytes of a record, at least the decoded ones; 0 if the table is empty. */
        public int recordSize() {
            return recordSize;
        }

        public List<Section<T>> sections() {
            return sections;
        }

        /** The records of an ELF section, by its name; may be empty. */
        public List<T> of(String section) {
            return Collections.unmodifiableList(byName.getOrDefault(section, List.of()));
        }
    }

    /**
     * The records of one ELF section.
     *
     * @param <T> the type of a record
     * @param name of the ELF section, such as {@code tp/sched/sched_switch}
     * @param raw the same records as in the file, each of the table's record size
     */
    public record Section<T>(String name, List<T> records, ByteView raw) {
        public Section {
            records = List.copyOf(records);
        }
    }

    /**
     * A function starts at an instruction.
     *
     * @param offset of the instruction in its ELF section, in bytes
     * @param type id of a {@link BtfType.Func}
     */
    public record FuncInfo(long offset, int type) {}

    /**
     * The source line of an instruction and those after it.
     *
     * @param offset of the instruction in its ELF section, in bytes
     * @param file string offset of the file's name
     * @param text string offset of the line's text
     * @param position {@code line << 10 | column}
     */
    public record LineInfo(long offset, int file, int text, int position) {
        /** Counted from 1. */
        public int line() {
            return position >>> 10;
        }

        /** Counted from 1; 0 if unknown. */
        public int column() {
            return position & 0x3ff;
        }
    }

    /**
     * An instruction depends on the layout of a kernel type.
     *
     * @param offset of the instruction in its ELF section, in bytes
     * @param type id of the root type
     * @param access string offset of the access string, such as {@code 0:1:2}
     * @param kind number of an {@code enum bpf_core_relo_kind}, named in {@code io.bpf4j.core}
     */
    public record CoreRelocation(long offset, int type, int access, int kind) {}

    private interface Decoder<T> {
        T decode(ByteView view, long at);
    }

    private BtfExt(ByteView view, Btf btf) {
        if (view.size() < 24) {
            throw view.malformed(0, ".BTF.ext of " + view.size() + " bytes, less than its header of 24");
        }
        ByteOrder order = BtfBytes.orderByMagic(view);
        if (order != view.order()) {
            throw view.malformed(0, ".BTF.ext is " + order + " in a file that is " + view.order());
        }
        if (view.u8(2) != 1) {
            throw view.malformed(2, ".BTF.ext version " + view.u8(2) + ", not 1");
        }
        long header = view.u32(4);
        if (header < 24 || header > view.size()) {
            throw view.malformed(
                    4, ".BTF.ext header of " + header + " bytes in a section of " + view.size() + " bytes");
        }
        this.functions = table(view, header, 8, btf, FUNC_INFO_BYTES, BtfExt::funcInfo);
        this.lines = table(view, header, 16, btf, LINE_INFO_BYTES, BtfExt::lineInfo);
        this.relocations = header >= 32
                ? table(view, header, 24, btf, CORE_RELOCATION_BYTES, BtfExt::coreRelocation)
                : new Table<>(0, List.of());
    }

    /**
     * Reads a {@code .BTF.ext} section.
     *
     * @param btf the object's {@code .BTF}, for the names of sections
     * @throws MalformedDataException if a table or a record is cut short, a section has no name, or a record's offset
     *     is not the start of an instruction
     */
    public static BtfExt parse(ByteView view, Btf btf) {
        return new BtfExt(view, btf);
    }

    /** Reads the table whose offset and length are at {@code at} in the header. */
    private static <T> Table<T> table(
            ByteView view, long header, long at, Btf btf, int knownBytes, Decoder<T> decoder) {
        long start = header + view.u32(at);
        long size = view.u32(at + 4);
        if (size == 0) {
            return new Table<>(0, List.of());
        }
        if (start > view.size() || size > view.size() - start) {
            throw view.malformed(
                    at, "a table of " + size + " bytes at " + start + " in a section of " + view.size() + " bytes");
        }
        if (size < 4) {
            throw view.malformed(at + 4, "a table of " + size + " bytes has no room for its record size");
        }
        ByteView table = view.slice(start, size);
        int recordSize = recordSize(table, knownBytes);
        List<Section<T>> sections = new ArrayList<>();
        long names = 1 << 20;
        long next = 4;
        while (next < size) {
            if (size - next < 8) {
                throw table.malformed(next, "the table ends inside the header of a section");
            }
            String name = btf.nameAt(table.s32(next));
            if (name.isEmpty()) {
                throw table.malformed(next, "a table of records has an empty section name");
            }
            names -= Math.max(0, name.length() - 256);
            if (names < 0) {
                throw table.malformed(next, "the section names together are too long, because they overlap");
            }
            long count = table.u32(next + 4);
            long bytes = count * recordSize;
            if (count == 0 || bytes > size - next - 8) {
                throw table.malformed(
                        next + 4,
                        count + " records of " + recordSize + " bytes, but " + (size - next - 8) + " bytes remain");
            }
            ByteView raw = table.slice(next + 8, bytes);
            List<T> records = records(raw, recordSize, name, decoder);
            sections.add(new Section<>(name, records, raw));
            next += 8 + bytes;
        }
        return new Table<>(recordSize, sections);
    }

    /** The kernel requires a multiple of 4 and at most MAX_FUNCINFO_REC_SIZE = MAX_LINEINFO_REC_SIZE = 252. */
    private static int recordSize(ByteView table, int knownBytes) {
        long size = table.u32(0);
        if (size < knownBytes || size % 4 != 0 || size > 252) {
            throw table.malformed(
                    0, "records of " + size + " bytes, not a multiple of 4 from " + knownBytes + " to 252");
        }
        return (int) size;
    }

    private static <T> List<T> records(ByteView raw, int recordSize, String section, Decoder<T> decoder) {
        List<T> records = new ArrayList<>((int) (raw.size() / recordSize));
        for (long record = 0; record < raw.size(); record += recordSize) {
            // Each kind of record begins with its place.
            if (raw.u32(record) % Instruction.SIZE != 0) {
                throw raw.malformed(
                        record,
                        "a record for byte " + raw.u32(record) + " of section \"" + section
                                + "\", where no instruction begins: instructions have " + Instruction.SIZE
                                + " bytes each");
            }
            records.add(decoder.decode(raw, record));
        }
        return records;
    }

    private static FuncInfo funcInfo(ByteView view, long at) {
        return new FuncInfo(view.u32(at), view.s32(at + 4));
    }

    private static LineInfo lineInfo(ByteView view, long at) {
        return new LineInfo(view.u32(at), view.s32(at + 4), view.s32(at + 8), view.s32(at + 12));
    }

    private static CoreRelocation coreRelocation(ByteView view, long at) {
        return new CoreRelocation(view.u32(at), view.s32(at + 4), view.s32(at + 8), view.s32(at + 12));
    }

    /** The function starts. */
    public Table<FuncInfo> functions() {
        return functions;
    }

    /** The source lines of instructions. */
    public Table<LineInfo> lines() {
        return lines;
    }

    /** The CO-RE relocations. */
    public Table<CoreRelocation> relocations() {
        return relocations;
    }
}
