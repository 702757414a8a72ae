package io.bpf4j.cli.merge;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.trace.Distribution;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answers of one file, line by line: the rows up to each end. <i>Confined.</i>
 *
 * <p>Rows before an interval's end are older counts of the rows that follow, so only the last ones count. All are
 * checked, because they may be the rest of an answer that is cut off.
 *
 * <p>Tested by {@code MergeCommandTest}.
 */
final class AnswerReader {
    /** The length of {@code {"from":8,"to":9,"count":0},}. */
    private static final int SHORTEST_BUCKET = 28;

    private final String file;
    private final MergedAnswer merged;
    private final RowReader rowReader = new RowReader();
    private final List<AnswerEnd> ends = new ArrayList<>();

    /** The rows of the answer that is being read. */
    private final Map<MergedRow.Id, PlacedRow> rows = new TreeMap<>();

    /** The length of their lines, in characters. */
    private long size;

    private long intervals;

    /** The number of shown events. */
    private long shown;

    private record PlacedRow(MergedRow row, long line, int length) {}

    private AnswerReader(String file, MergedAnswer merged) {
        this.file = file;
        this.merged = merged;
    }

    /**
     * Adds all answers of a file.
     *
     * @param file its name, for messages and remarks
     * @throws CommandException if the file has anything but complete answers, or answers of another question than those
     *     before
     */
    static void read(String file, Reader text, MergedAnswer merged) throws IOException {
        new AnswerReader(file, merged).read(new LineReader(text));
    }

    private void read(LineReader lines) throws IOException {
        long last = 0;
        boolean ended = false;
        try {
            for (String line = lines.next(); line != null; line = lines.next()) {
                last = lines.number();
                if (!line.isBlank()) {
                    ended = take(line, last);
                }
            }
        } catch (Refusal e) {
            String cut = lines.isComplete() ? "" : "; the line has no line feed, so the input is cut off";
            throw refused(lines.number(), e.getMessage() + cut);
        }
        if (last == 0) {
            throw new CommandException(file + ": is empty; it has no answer");
        }
        if (!ended) {
            throw refused(last, "is the last line, but not the end of an answer: the input is cut off");
        }
        for (AnswerEnd end : ends) {
            try {
                merged.add(ends.size() == 1 ? file : place(end.line()), end);
            } catch (Refusal e) {
                throw refused(end.line(), e.getMessage());
            }
        }
    }

    private String place(long line) {
        return file + ":" + line;
    }

    private CommandException refused(long line, @Nullable String why) {
        return new CommandException(place(line) + ": " + why);
    }

    /** Takes a record; returns whether it ends an answer. */
    private boolean take(String line, long number) {
        Fields fields = new Fields(JsonReader.object(line));
        String type = fields.text("type");
        switch (type) {
            case "row" -> row(rowReader.read(fields), line, number);
            case "event" -> shown++;
            case "interval" -> {
                checkEvents("an interval", fields.count("events"));
                intervals++;
                clear();
            }
            case "end" -> {
                end(AnswerEnd.read(fields, number), line);
                return true;
            }
            default ->
                throw new Refusal("is a record of the type " + Refusal.quoted(type)
                        + "; only answers of count, hist, latency, stack and top can be merged");
        }
        return false;
    }

    private void row(RowReader.Read read, String line, long number) {
        merged.check(read.form(), place(number));
        MergedRow row = read.row();
        int length = length(row, line);
        size += length;
        merged.checkRoom(size);
        PlacedRow before = rows.get(row.id());
        if (before != null && !read.form().stacks()) {
            throw new Refusal("repeats the key of line " + before.line()
                    + "; an answer has one row for each key; the end of the previous answer may be missing");
        }
        // Functions that call from several places have several stacks with the same names.
        MergedRow sum = before == null ? row : before.row().plus(row, null);
        rows.put(row.id(), new PlacedRow(sum, number, length));
    }

    /** A line may leave out the buckets without events between the others, which the row has and which are printed. */
    private static int length(MergedRow row, String line) {
        Distribution distribution = row.distribution();
        return distribution == null
                ? line.length()
                : Math.max(
                        line.length(), SHORTEST_BUCKET * distribution.buckets().size());
    }

    /**
     * Checks that the rows are those of the interval or answer that ends here: not fewer, and after a cut-off answer
     * not more.
     */
    private void checkEvents(String part, long expected) {
        long events = 0;
        for (PlacedRow placed : rows.values()) {
            events += placed.row().count();
            if (events < 0) {
                throw new Refusal("ends " + part + " with more than 2^63 - 1 events");
            }
        }
        if (events != expected) {
            throw new Refusal("ends " + part + " of " + expected + " events, but its rows have " + events
                    + (events < expected ? ": rows are missing" : ": the end of the previous answer is missing"));
        }
    }

    private void end(AnswerEnd end, String line) {
        if (rows.isEmpty() && shown > 0 && end.shown() == 0 && end.events() > 0) {
            throw new Refusal("ends an answer that only shows events, so there is nothing to add up");
        }
        checkEvents("an answer", end.events());
        if (intervals != end.intervals() || shown != end.shown()) {
            boolean missing = intervals < end.intervals() || shown < end.shown();
            throw new Refusal("ends an answer with " + end.intervals() + " intervals and " + end.shown()
                    + " shown events, but " + intervals + " and " + shown + " precede it: "
                    + (missing ? "some are missing" : "the previous answer is cut off"));
        }
        for (PlacedRow placed : rows.values()) {
            try {
                merged.add(placed.row(), placed.length());
            } catch (Refusal e) {
                throw refused(placed.line(), e.getMessage());
            }
        }
        merged.checkRoom(line.length());
        ends.add(end);
        merged.keep(line.length());
        clear();
        intervals = 0;
        shown = 0;
    }

    private void clear() {
        rows.clear();
        size = 0;
    }
}
