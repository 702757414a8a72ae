package io.bpf4j.process;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads a line of {@code /proc/PID/maps} (proc_pid_maps(5); show_map_vma in fs/proc/task_mmu.c):
 *
 * <pre>
 *   7f1c5e000000-7f1c5e0fa000 r-xp 00026000 08:01 1835021    /usr/lib/libc.so.6
 *   start        end          perm offset   dev   inode      path
 * </pre>
 *
 * <p>The path is the rest of the line, including blanks. The kernel writes a newline in it as {@code \012} and all
 * other bytes unchanged, including the backslash (seq_path with "\n" to escape, and mangle_path of fs/seq_file.c).
 */
final class MapsLine {
    /** The length of the numbers and of the longest path with every byte escaped. */
    static final int MAX_BYTES = 128 + 4 * ProcessLimits.MAX_NAME_BYTES;

    private final byte[] line;
    private final int length;
    private int at;

    private MapsLine(byte[] line, int length) {
        this.line = line;
        this.length = length;
    }

    /** The mapping; empty for a line of another form. */
    static Optional<MappedRange> parse(byte[] line, int length) {
        try {
            return Optional.of(new MapsLine(line, length).parse());
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private MappedRange parse() {
        long start = number(16, '-');
        long end = number(16, ' ');
        int from = at;
        if (from >= length) {
            throw new NumberFormatException(); // the line ends after its addresses
        }
        while (at < length && line[at] != ' ') {
            at++;
        }
        String permissions = new String(line, from, at - from, StandardCharsets.ISO_8859_1).intern();
        at++;
        long offset = number(16, ' ');
        long major = number(16, ':');
        long minor = number(16, ' ');
        long inode = number(10, ' ');
        while (at < length && line[at] == ' ') {
            at++;
        }
        int nameEnd = Math.min(length, at + 4 * ProcessLimits.MAX_NAME_BYTES);
        return new MappedRange(
                start,
                end,
                permissions,
                offset,
                FileIdentity.device(major, minor),
                inode,
                FileName.of(line, Math.min(at, length), nameEnd));
    }

    /** A number and the byte after it, which may be missing at the end of the line. */
    private long number(int radix, char terminator) {
        long value = 0;
        int from = at;
        while (at < length && line[at] != terminator) {
            int digit = Character.digit(line[at], radix);
            if (digit < 0) {
                throw new NumberFormatException();
            }
            value = value * radix + digit;
            at++;
        }
        if (at == from) {
            throw new NumberFormatException();
        }
        at++;
        return value;
    }
}
