package io.bpf4j.usdt.internal.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the text of {@code /proc/PID/maps} (proc_pid_maps(5)):
 *
 * <pre>
 *   7f1c5e000000-7f1c5e0fa000 r-xp 00026000 08:01 1835021    /usr/lib/libc.so.6
 *   start        end          perm offset   dev   inode      path
 * </pre>
 *
 * <p>The path is all that follows, blanks included; a newline in it stands as {@code \012}. {@code " (deleted)"} at
 * its end is the kernel's, unless the file is really called so, which nobody can tell.
 */
public final class MapsFile {
    private static final String DELETED = " (deleted)";

    private MapsFile() {}

    /** All mappings in the order of their addresses. A line of another form is left out. */
    public static List<Mapping> parse(String text) {
        List<Mapping> mappings = new ArrayList<>();
        text.lines().forEach(line -> parseLine(line).ifPresent(mappings::add));
        return mappings;
    }

    private static Optional<Mapping> parseLine(String line) {
        String[] fields = line.split(" +", 6);
        if (fields.length < 5) {
            return Optional.empty();
        }
        int dash = fields[0].indexOf('-');
        try {
            long start = Long.parseUnsignedLong(fields[0], 0, dash, 16);
            long end = Long.parseUnsignedLong(fields[0], dash + 1, fields[0].length(), 16);
            long offset = Long.parseUnsignedLong(fields[2], 16);
            long inode = Long.parseUnsignedLong(fields[4]);
            String path = fields.length > 5 ? fields[5].replace("\\012", "\n") : "";
            boolean deleted = path.endsWith(DELETED);
            String name = deleted ? path.substring(0, path.length() - DELETED.length()) : path;
            return Optional.of(new Mapping(start, end, fields[1], offset, fields[3], inode, name, deleted));
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
