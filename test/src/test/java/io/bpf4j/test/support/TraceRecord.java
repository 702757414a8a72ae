package io.bpf4j.test.support;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A record of {@code trace.bpf.o}, read by the words of {@code trace.h} and on purpose not by the code that the command
 * line uses, so that the two check one another.
 *
 * @param strings for each of 12 arguments its text, if one was read
 */
public record TraceRecord(
        long timeNanos,
        long cookie,
        int pid,
        int tid,
        String comm,
        int argCount,
        int errorBits,
        int truncatedBits,
        List<Long> args,
        List<Optional<String>> strings) {

    /**
     * Reads a record.
     *
     * @param stringArguments numbers of the arguments that are configured as strings, ascending
     * @param stringMax configured bytes per string
     */
    public static TraceRecord of(ByteBuffer record, List<Integer> stringArguments, int stringMax) {
        byte[] comm = new byte[16];
        record.get(24, comm);
        int argCount = record.getShort(40);
        int stringBits = record.getShort(44);
        List<Long> args = new ArrayList<>();
        for (int n = 0; n < argCount; n++) {
            args.add(record.getLong(48 + 8 * n));
        }
        int slots = 48 + 8 * (argCount <= 4 ? 4 : 12);
        int slotSize = (2 + stringMax + 7) / 8 * 8;
        List<Optional<String>> strings = new ArrayList<>();
        for (int n = 0; n < 12; n++) {
            int slot = stringArguments.indexOf(n);
            if ((stringBits & (1 << n)) == 0 || slot < 0) {
                strings.add(Optional.empty());
            } else {
                byte[] text = new byte[record.getShort(slots + slot * slotSize)];
                record.get(slots + slot * slotSize + 2, text);
                strings.add(Optional.of(new String(text, StandardCharsets.UTF_8)));
            }
        }
        return new TraceRecord(
                record.getLong(0),
                record.getLong(8),
                record.getInt(16),
                record.getInt(20),
                new String(comm, StandardCharsets.UTF_8).replaceAll("\0.*", ""),
                argCount,
                record.getShort(42) & 0xffff,
                record.getShort(46),
                args,
                strings);
    }

    /** The text of an argument that has to be there. */
    public String text(int argument) {
        return strings.get(argument).orElseThrow(() -> new AssertionError("no string " + argument + " in " + this));
    }
}
