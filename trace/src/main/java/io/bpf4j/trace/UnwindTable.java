package io.bpf4j.trace;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells from {@code .eh_frame} where code has no frame of its own. <i>Confined.</i>
 *
 * <p>The kernel finds callers by frame pointers: at the address in {@code rbp} it expects the caller's {@code rbp} and,
 * above it, the return address. A function that has not pushed {@code rbp} still has its caller's value there, so the
 * first return address that the kernel finds is that of the caller, into the caller's caller. The caller itself is
 * missing, and nothing in the stack shows it.
 *
 * <p>The table says for each instruction by which register the canonical frame address (CFA) is found, the value of the
 * stack pointer before the call. Of code with a frame it is {@code rbp}, of other code {@code rsp}. It consists of
 * entries for functions (FDE), which refer to entries with what they have in common (CIE):
 *
 * <pre>
 * CIE  def_cfa rsp+8                                at the first instruction of each function
 * FDE  caller, 0x11c0 up to 0x11cf
 *        advance_loc 1, def_cfa_offset 16           after push %rbp
 *        advance_loc 3, def_cfa_register rbp        after mov %rsp,%rbp: here are the sites with a frame
 *        advance_loc 10, def_cfa rsp+8              after pop %rbp
 * </pre>
 *
 * <p>Sources: Linux Standard Base 5.0, Core, 10.6 "Exception Frames"; DWARF 5, 6.4.2 "Call Frame Instructions"; System V
 * ABI, AMD64 supplement, figure 3.36, for the numbers of registers.
 *
 * <p>Tested by {@code UnwindTableTest} and {@code CliStackTest}.
 */
final class UnwindTable {
    /** The number of {@code rbp}. */
    private static final long RBP = 6;

    private static final long UNKNOWN = -1;

    /**
     * The maximum number of entries and instructions for all addresses together: a file can have any number of both.
     */
    private static final int MAX_STEPS = 10_000_000;

    private static final int MAX_REMEMBERED = 64;

    /** The maximum size of a CIE's augmentation string in bytes, with its NUL. */
    private static final int MAX_AUGMENTATION = 16;

    /** The maximum size of a 64-bit number in LEB128, in bytes. */
    private static final int MAX_LEB128 = 10;

    private final ByteView bytes;
    private final long start;
    private final long[] addresses;
    private final BitSet judged = new BitSet();
    private final Set<Long> frameless = new HashSet<>();
    private int left;
    private int steps;

    private UnwindTable(ByteView bytes, long start, long[] addresses) {
        this.bytes = bytes;
        this.start = start;
        this.addresses = addresses;
        this.left = addresses.length;
    }

    /**
     * Chooses the addresses at which code has no frame. Addresses that no entry of the table covers are left out, and all
     * addresses of a machine other than x86-64.
     *
     * @param addresses virtual addresses of the file, without a load bias
     * @throws MalformedDataException if the table is broken
     */
    static Set<Long> frameless(ElfFile elf, Collection<Long> addresses) {
        Section section = elf.section(".eh_frame").orElse(null);
        if (section == null
                || section.type() == Section.SHT_NOBITS
                || (section.flags() & Section.SHF_COMPRESSED) != 0 // no section that is loaded is compressed
                || elf.header().machine() != ElfHeader.EM_X86_64) {
            return Set.of();
        }
        return frameless(elf.data(section), section.address(), addresses);
    }

    /** The same of a table's bytes, which are loaded at {@code start}. */
    static Set<Long> frameless(ByteView bytes, long start, Collection<Long> addresses) {
        UnwindTable table = new UnwindTable(
                bytes,
                start,
                addresses.stream()
                        .mapToLong(Long::longValue)
                        .sorted()
                        .distinct()
                        .toArray());
        table.read();
        return table.frameless;
    }

    private void read() {
        Cie cie = null;
        long at = 0;
        while (bytes.size() - at >= 4 && left > 0 && ++steps <= MAX_STEPS) {
            Reader entry = new Reader(at);
            long length = entry.u32();
            if (length == 0xffff_ffffL) {
                length = entry.s64();
            }
            if (length == 0) {
                return; // the end, by the Linux Standard Base
            }
            long begin = entry.at;
            if (length < 4 || length > bytes.size() - begin) {
                throw bytes.malformed(at, "an entry of " + length + " bytes in .eh_frame");
            }
            long end = begin + length;
            // This field has 32 bits even in an entry with a 64-bit length: see the Linux Standard Base.
            long back = entry.u32();
            if (back != 0) {
                long of = begin - back;
                if (cie == null || cie.at != of) {
                    cie = cie(of);
                }
                function(cie, new Reader(entry.at), end);
            }
            at = end;
        }
    }

    /**
     * The common part of functions.
     *
     * @param at where it starts, by which functions refer to it
     * @param codeUnit bytes of a unit of {@code advance_loc}
     * @param encoding of addresses
     * @param hasLengths whether functions have augmentation data
     * @param known whether all of it is understood
     */
    private record Cie(long at, long codeUnit, int encoding, boolean hasLengths, boolean known, long from, long end) {}

    private Cie cie(long at) {
        if (at < 0) {
            throw bytes.malformed(0, "a function in .eh_frame that refers to nothing before it");
        }
        Reader reader = new Reader(at);
        long length = reader.u32();
        if (length == 0xffff_ffffL) {
            length = reader.s64();
        }
        long begin = reader.at;
        if (length < 4 || length > bytes.size() - begin || reader.u32() != 0) {
            throw bytes.malformed(at, "a function in .eh_frame refers to an entry that is not a CIE");
        }
        long end = begin + length;
        int version = reader.u8();
        String augmentation = bytes.cString(reader.at, Math.min(MAX_AUGMENTATION, end - reader.at));
        reader.at += augmentation.length() + 1;
        boolean known = (version == 1 || version == 3) && augmentation.matches("(z[RLPSB]*)?");
        if (!known) {
            return new Cie(at, 0, 0, false, false, end, end);
        }
        long codeUnit = reader.uleb();
        reader.uleb(); // the unit of offsets from the CFA
        if (version == 1) {
            reader.u8();
        } else {
            reader.uleb();
        }
        int encoding = 0;
        long from = reader.at;
        if (!augmentation.isEmpty()) {
            long data = reader.uleb();
            from = skip(reader.at, data);
            for (char c : augmentation.substring(1).toCharArray()) {
                switch (c) {
                    case 'R' -> encoding = reader.u8();
                    case 'L' -> reader.u8();
                    case 'P' -> known &= reader.encoded(reader.u8() & 0x7f) != null; // its value is not needed
                    default -> {}
                }
            }
        }
        return new Cie(at, codeUnit, encoding, !augmentation.isEmpty(), known, from, end);
    }

    private long skip(long at, long length) {
        if (length < 0 || length > bytes.size() - at) {
            throw bytes.malformed(at, length + " bytes in .eh_frame");
        }
        return at + length;
    }

    private void function(Cie cie, Reader reader, long end) {
        Long first = cie.known ? reader.encoded(cie.encoding) : null;
        Long size = first == null ? null : reader.encoded(cie.encoding & 0x0f);
        if (first == null || size == null || size <= 0) {
            return;
        }
        int found = Arrays.binarySearch(addresses, first);
        int index = found < 0 ? -found - 1 : found;
        if (index == addresses.length || addresses[index] - first >= size) {
            return;
        }
        long data = cie.hasLengths ? reader.uleb() : 0;
        long from = skip(reader.at, data);
        for (; index < addresses.length && addresses[index] - first < size; index++) {
            if (!judged.get(index)) {
                judged.set(index);
                left--;
                long register = new Rules(cie, first, addresses[index]).run(from, end);
                if (register != UNKNOWN && register != RBP) {
                    frameless.add(addresses[index]);
                }
            }
        }
    }

    /** Reads the instructions of a function up to an address. */
    private final class Rules {
        private final Cie cie;
        private final long address;
        private final Deque<Long> remembered = new ArrayDeque<>();
        private long location;
        private long register = UNKNOWN;

        Rules(Cie cie, long first, long address) {
            this.cie = cie;
            this.location = first;
            this.address = address;
        }

        /** The register by which the CFA is found at the address, by its number; {@link #UNKNOWN} if that is not clear. */
        long run(long from, long end) {
            if (!run(new Reader(cie.from), cie.end) || !run(new Reader(from), end)) {
                return UNKNOWN;
            }
            return register;
        }

        /** Returns false at an instruction that is not known. */
        private boolean run(Reader reader, long end) {
            while (reader.at < end) {
                if (++steps > MAX_STEPS) {
                    return false;
                }
                int code = reader.u8();
                int operand = code & 0x3f;
                switch (code >> 6) {
                    case 1 -> location += operand * cie.codeUnit;
                    case 2 -> reader.uleb(); // offset
                    case 3 -> {} // restore
                    default -> {
                        if (!other(code, reader)) {
                            return false;
                        }
                    }
                }
                if (location > address) {
                    return true;
                }
            }
            return true;
        }

        /** An instruction without an operand in its first byte; those that concern other registers are skipped. */
        private boolean other(int code, Reader reader) {
            switch (code) {
                case 0x00 -> {} // nop
                case 0x01 -> {
                    Long to = reader.encoded(cie.encoding);
                    if (to == null) {
                        return false;
                    }
                    location = to;
                }
                case 0x02 -> advance(reader.u8());
                case 0x03 -> advance(reader.u16());
                case 0x04 -> advance(reader.u32());
                case 0x06, 0x07, 0x08, 0x2e -> reader.uleb(); // restore, undefined, same_value, GNU_args_size
                case 0x05, 0x09, 0x11, 0x14, 0x15, 0x2f -> { // offsets, values, registers
                    reader.uleb();
                    reader.uleb();
                }
                case 0x0a -> {
                    if (remembered.size() == MAX_REMEMBERED) {
                        return false;
                    }
                    remembered.push(register);
                }
                case 0x0b -> {
                    if (remembered.isEmpty()) {
                        return false;
                    }
                    register = remembered.pop();
                }
                case 0x0c, 0x12 -> { // def_cfa, def_cfa_sf
                    register = reader.uleb();
                    reader.uleb();
                }
                case 0x0d -> register = reader.uleb();
                case 0x0e, 0x13 -> reader.uleb(); // def_cfa_offset, def_cfa_offset_sf
                case 0x0f -> { // def_cfa_expression
                    register = UNKNOWN;
                    reader.block();
                }
                case 0x10, 0x16 -> { // expression, val_expression
                    reader.uleb();
                    reader.block();
                }
                default -> {
                    return false;
                }
            }
            return true;
        }

        private void advance(long units) {
            location += units * cie.codeUnit;
        }
    }

    /** A position in the table. */
    private final class Reader {
        long at;

        Reader(long at) {
            this.at = at;
        }

        int u8() {
            return bytes.u8(at++);
        }

        int u16() {
            at += 2;
            return bytes.u16(at - 2);
        }

        long u32() {
            at += 4;
            return bytes.u32(at - 4);
        }

        long s64() {
            at += 8;
            return bytes.s64(at - 8);
        }

        /** An unsigned LEB128 number. A signed one has the same number of bytes. */
        long uleb() {
            long value = 0;
            for (int n = 0; n < MAX_LEB128; n++) {
                int next = u8();
                value |= (next & 0x7fL) << (7 * n);
                if ((next & 0x80) == 0) {
                    return value;
                }
            }
            throw bytes.malformed(at, "a number of more than 64 bits in .eh_frame");
        }

        void block() {
            long length = uleb();
            at = skip(at, length);
        }

        /** An address in one of the forms of the Linux Standard Base (DW_EH_PE); null for a form that is not read. */
        @Nullable
        Long encoded(int form) {
            long base;
            switch (form & 0xf0) {
                case 0x00 -> base = 0;
                case 0x10 -> base = start + at;
                default -> {
                    return null;
                }
            }
            return switch (form & 0x0f) {
                case 0x00, 0x04, 0x0c -> base + s64();
                case 0x02 -> base + u16();
                case 0x03 -> base + u32();
                case 0x0a -> base + (short) u16();
                case 0x0b -> base + (int) u32();
                default -> null;
            };
        }
    }
}
