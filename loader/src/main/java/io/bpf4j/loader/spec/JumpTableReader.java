package io.bpf4j.loader.spec;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads the tables of indirect jumps (Linux 6.19), which a compiler creates for a {@code switch} with many cases:
 *
 * <pre>
 *   .jumptables          8 bytes an entry: the place of an instruction, in bytes from the start of the section that
 *                        has the function
 *   symbol BPF.JT.0.0    where a table starts and how long it is
 *
 *   r2 = BPF.JT.0.0 ll   64-bit load, with a relocation that names the table, or its section and a number of bytes
 *   r2 += r1             r1 is eight times the index
 *   r2 = *(u64 *)(r2+0)
 *   gotox r2
 * </pre>
 *
 * Source: tools/lib/bpf of Linux 7.3, and commits dd3fd3c96559 and 493d9e0d6083 ("libbpf: support llvm-generated
 * indirect jumps", "bpf, x86: add support for indirect jumps"). <i>Confined.</i>
 *
 * <p>Tested by {@code JumpTablesTest}.
 */
final class JumpTableReader {
    static final String SECTION = ".jumptables";

    private static final int ENTRY = 8;

    /**
     * A table.
     *
     * @param start in its section, in bytes; identifies the table
     * @param slots the jump targets, as slots of the function's section
     */
    record Table(int start, List<Integer> slots, int lowest, int highest) {}

    private final ObjectFile file;
    private final Optional<Section> section;
    private final NavigableMap<Long, Symbol> symbols = new TreeMap<>();
    private final Map<Long, Table> tables = new HashMap<>();
    /** Limits the total size: tables of a compiler don't overlap, but tables of a hostile file may. */
    private long entriesLeft;

    JumpTableReader(ObjectFile file) {
        this.file = file;
        this.section = file.elf.section(SECTION);
        this.entriesLeft = section.map(Section::size).orElse(0L) / ENTRY;
        for (Symbol symbol : file.symbols) {
            if (isIn(symbol) && symbol.size() > 0) {
                symbols.merge(symbol.value(), symbol, (one, other) -> one.size() >= other.size() ? one : other);
            }
        }
    }

    boolean isIn(Symbol symbol) {
        return symbol.isInSection()
                && section.filter(found -> found.index() == symbol.sectionIndex())
                        .isPresent();
    }

    /**
     * The table that a byte of the section belongs to.
     *
     * @throws InvalidObjectException if no table contains the byte, or the table is malformed
     */
    Table containing(long offset) {
        Map.Entry<Long, Symbol> entry = symbols.floorEntry(offset);
        if (entry == null || offset - entry.getKey() >= entry.getValue().size()) {
            throw file.invalid("no symbol defines a jump table at byte " + offset + " of \"" + SECTION + "\"");
        }
        return tables.computeIfAbsent(entry.getKey(), _ -> read(entry.getValue()));
    }

    private Table read(Symbol symbol) {
        Section found = section.orElseThrow();
        ByteView data = file.elf.data(found);
        long start = symbol.value();
        long count = symbol.size() / ENTRY;
        if (start % ENTRY != 0 || symbol.size() % ENTRY != 0 || start > data.size() - symbol.size()) {
            throw file.malformed(
                    found,
                    start,
                    "jump table \"" + symbol.name() + "\" of " + symbol.size()
                            + " bytes is not a sequence of 8-byte entries in");
        }
        entriesLeft -= count;
        if (entriesLeft < 0) {
            throw file.malformed(found, start, "jump table \"" + symbol.name() + "\" overlaps others in");
        }
        List<Integer> slots = new ArrayList<>((int) count);
        int lowest = Integer.MAX_VALUE;
        int highest = -1;
        for (long at = start; at < start + symbol.size(); at += ENTRY) {
            long codeOffset = data.s64(at);
            if (codeOffset < 0
                    || codeOffset % Instruction.SIZE != 0
                    || codeOffset / Instruction.SIZE > Integer.MAX_VALUE) {
                throw file.malformed(
                        found, at, "offset " + codeOffset + ", which is not the offset of an instruction, in");
            }
            int slot = (int) (codeOffset / Instruction.SIZE);
            slots.add(slot);
            lowest = Math.min(lowest, slot);
            highest = Math.max(highest, slot);
        }
        return new Table((int) start, List.copyOf(slots), lowest, highest);
    }
}
