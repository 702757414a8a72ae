package io.bpf4j.cli.merge;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Remark;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.picture.History;
import io.bpf4j.cli.picture.StackPicture;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.question.HistogramScale;
import io.bpf4j.cli.question.StackRow;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.stack.StackCounts;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sum of answers of one question. <i>Confined.</i>
 *
 * <p>Tested by {@code MergeCommandTest}.
 */
public final class MergedAnswer {
    /**
     * The maximum length of all lines that are kept, in chars. Counts of a hundred machines with ten thousand keys each
     * have half of it, if no key is on two machines.
     */
    private static final long MAX_KEPT = 256L << 20;

    private static final String NO_ROOM = "no room was left for more keys";

    /** The keys whose values are numbers of one machine. */
    private static final Set<String> OF_ONE_MACHINE = Set.of("pid", "tid");

    private final Map<MergedRow.Id, MergedRow> rows = new TreeMap<>();
    private final Map<Gap, Long> missing = new EnumMap<>(Gap.class);
    private final List<Diagnostic> gaps = new ArrayList<>();
    private final List<Remark> remarks = new ArrayList<>();
    private final long maxKept;
    private @Nullable Form form;
    private String formIn = "";
    private @Nullable Distribution all;
    private long events;
    private long kept;
    private boolean sameNumbers;

    /** The question of the ends so far, and where the first of them is. */
    private Optional<AskedQuestion> question = Optional.empty();

    private String questionIn = "";

    /** Where the first end is that lacks its question. */
    private String unknownIn = "";

    /** A sum without answers. */
    public MergedAnswer() {
        this(MAX_KEPT);
    }

    /** @param maxKept the maximum length of all lines that are kept, in chars */
    MergedAnswer(long maxKept) {
        this.maxKept = maxKept;
    }

    /**
     * Adds all answers of a file.
     *
     * @param file its name, for messages and remarks
     * @throws io.bpf4j.cli.failure.CommandException if the file has anything but complete answers, or answers of
     *     another question than those before; the message names the line. This sum must not be used then
     */
    public void addAll(String file, Reader text) throws IOException {
        AnswerReader.read(file, text, this);
    }

    /**
     * Checks that a row has the form of all rows so far.
     *
     * @throws Refusal if not
     */
    void check(Form of, String place) {
        Form known = form;
        if (known == null) {
            form = of;
            formIn = place;
            all = of.scale().map(HistogramScale::withoutEvents).orElse(null);
        } else if (!of.equals(known)) {
            throw new Refusal("answers another question than " + formIn + ": " + of.differenceTo(known));
        }
    }

    /**
     * Checks that more chars may be kept.
     *
     * @throws Refusal if not
     */
    void checkRoom(long size) {
        if (kept + size > maxKept) {
            throw new Refusal("makes the answers exceed " + maxKept
                    + " characters; merge some of them first, or ask with fewer keys");
        }
    }

    /**
     * Adds a row.
     *
     * @param size the number of chars that are kept of it
     * @throws Refusal if there are more events than can be counted
     */
    void add(MergedRow row, int size) {
        events += row.count();
        if (events < 0) {
            throw new Refusal("makes the number of events exceed 2^63 - 1");
        }
        MergedRow before = rows.get(row.id());
        rows.put(row.id(), before == null ? row : before.plus(row, all));
        if (before == null) {
            keep(size);
        } else if (!Collections.disjoint(row.id().key().keySet(), OF_ONE_MACHINE)) {
            sameNumbers = true;
        }
    }

    /** Notes that more chars are kept. */
    void keep(long size) {
        kept += size;
    }

    /** Checks that an answer is about the question of all answers so far. */
    private void check(AskedQuestion asked, String source) {
        if (question.isEmpty()) {
            question = Optional.of(asked);
            questionIn = source;
        } else if (!question.get().equals(asked)) {
            throw new Refusal(
                    "answers another question than " + questionIn + ": " + asked.differenceTo(question.get()));
        }
    }

    /**
     * Adds what an answer lacks, and its remarks.
     *
     * @throws Refusal if it answers another question than those before, or lacks more events than can be counted
     */
    void add(String source, AnswerEnd end) {
        end.question().ifPresentOrElse(asked -> check(asked, source), () -> {
            unknownIn = unknownIn.isEmpty() ? source : unknownIn;
        });
        end.missing().forEach((gap, count) -> {
            long sum = missing.getOrDefault(gap, 0L) + count;
            if (sum < 0) {
                throw new Refusal("makes the number of missing events exceed 2^63 - 1");
            }
            missing.put(gap, sum);
        });
        end.gaps().forEach(gap -> gaps.add(new Diagnostic(gap.kind(), gap.subject(), source + ": " + gap.message())));
        end.remarks()
                .forEach(remark ->
                        remarks.add(new Remark(remark.kind(), remark.subject(), source + ": " + remark.message())));
        long cut = end.missing().getOrDefault(Gap.NO_ROOM_FOR_KEY, 0L);
        // A sum has the remarks of its inputs, which name the machines.
        if (cut > 0 && end.remarks().stream().noneMatch(MergedAnswer::isNoRoom)) {
            remarks.add(leftOut(
                    source,
                    NO_ROOM + ", and " + AnswerValues.events(cut) + (cut == 1 ? " was" : " were")
                            + " left out; so keys may be missing from this sum or counted too low, and the order may"
                            + " be wrong"));
        }
        if (end.shown() > 0) {
            String them = end.shown() == 1 ? "it" : "them";
            remarks.add(leftOut(
                    source,
                    "shows " + AnswerValues.events(end.shown()) + "; the sum counts " + them + " and does not show "
                            + them));
        }
    }

    private static boolean isNoRoom(Remark remark) {
        return remark.kind().equals(Optional.of(Diagnostic.Kind.LEFT_OUT))
                && remark.message().contains(NO_ROOM);
    }

    private static Remark leftOut(String source, String message) {
        return Remark.of(new Diagnostic(Diagnostic.Kind.LEFT_OUT, source, source + ": " + message));
    }

    /** All remarks, those of the sum last. */
    private List<Remark> allRemarks() {
        List<Remark> all = new ArrayList<>(remarks);
        if (question.isPresent() && !unknownIn.isEmpty()) {
            all.add(hint("the answer of " + unknownIn + " does not name its question, which may differ from that of "
                    + questionIn));
        }
        if (sameNumbers) {
            all.add(
                    hint(
                            "a pid or tid is a number of one machine only: rows of different answers with equal numbers were added up"));
        }
        return all;
    }

    private static Remark hint(String message) {
        return Remark.of(new Diagnostic(Diagnostic.Kind.HINT, "", message));
    }

    /** Prints the sum as the commands print an answer, in text or as JSON. */
    public void print(Console console, boolean json, Paint paint) {
        List<Remark> facts = allRemarks();
        facts.forEach(remark -> console.error("bpf4j: " + remark.message()));
        AnswerReport report = new AnswerReport(console, json, paint);
        Form known = form;
        List<Answer.Row> counted = counted();
        if (isOfStacks()) {
            for (StackRow stack : stacks(json)) {
                if (json) {
                    console.line(stack.json());
                } else {
                    stack.print(console, paint);
                }
            }
        } else if (known != null) {
            report.rows(counted, known.unit(), known.scale());
        }
        report.printSums(counted, missing, gaps, facts, knownQuestion(), false);
    }

    /** Whether it is a sum of stacks. */
    public boolean isOfStacks() {
        return form != null && form.stacks();
    }

    /**
     * Prints the sum of stacks as folded lines, and everything else on standard error.
     *
     * @throws CommandException if it is a sum of something else
     */
    public void printFolded(Console console) throws IOException {
        Form known = form;
        if (known != null && !known.stacks()) {
            throw new CommandException("--folded prints stacks, but the answers have " + known.kind());
        }
        List<Remark> facts = allRemarks();
        facts.forEach(remark -> console.error("bpf4j: " + remark.message()));
        graph().folded(console.outWriter());
        new AnswerReport(console, false).printSums(counted(), missing, gaps, facts, knownQuestion(), true);
    }

    /**
     * The sum as a page or picture.
     *
     * @param line the command line, which is one of the facts
     */
    public AnswerPage page(String line) {
        List<Answer.Row> counted = counted();
        String sums = AnswerReport.sums(missing, events, gaps);
        return new AnswerPage(
                title(),
                AnswerReport.isInSummary(counted, sums) ? List.of(line) : List.of(line, sums),
                allRemarks().stream().map(Remark::message).toList(),
                counted,
                form == null ? "" : form.unit(),
                new History());
    }

    /** The sum of stacks as a flame graph. */
    public StackPicture picture() {
        StackPicture picture = new StackPicture(title(), graph());
        stacks(false).forEach(stack -> picture.add(stack.frames(), stack.count()));
        return picture;
    }

    private StackCounts graph() {
        StackCounts graph = StackCounts.create();
        stacks(false).forEach(stack -> stack.addTo(graph));
        return graph;
    }

    /** The probes, if all answers say which they are. */
    private String title() {
        return knownQuestion()
                .map(asked -> Stream.of(Part.PROBES, Part.BEGIN, Part.END)
                        .flatMap(part -> asked.parts().getOrDefault(part, List.of()).stream())
                        .collect(Collectors.joining(", ")))
                .orElse("merged answers");
    }

    private Optional<AskedQuestion> knownQuestion() {
        return unknownIn.isEmpty() ? question : Optional.empty();
    }

    private List<Answer.Row> counted() {
        return rows.values().stream()
                .map(row -> new Answer.Row(
                        row.id().key(),
                        row.count(),
                        Optional.ofNullable(row.distribution()),
                        Optional.empty(),
                        Optional.empty()))
                .toList();
    }

    /** The stacks, the most frequent first. Without the processes, unless all are of one, as {@code stack} shows them. */
    private List<StackRow> stacks(boolean byProcess) {
        Map<MergedRow.Id, StackRow> stacks = new TreeMap<>();
        rows.values().stream()
                .map(row ->
                        new StackRow(row.id().key(), row.id().frames(), row.id().cut(), row.count()))
                .sorted(STACKS)
                .forEach(stack -> stacks.merge(id(stack, byProcess), stack, MergedAnswer::sum));
        return stacks.values().stream().sorted(STACKS).toList();
    }

    private static final Comparator<StackRow> STACKS = Comparator.comparingLong(StackRow::count)
            .reversed()
            .thenComparing(StackRow::key, AnswerValues.KEYS)
            .thenComparing(stack -> String.join("\n", stack.frames()))
            .thenComparing(StackRow::cut);

    private static MergedRow.Id id(StackRow stack, boolean byProcess) {
        Map<String, Object> key = new LinkedHashMap<>(stack.key());
        if (!byProcess) {
            key.remove("pid");
        }
        return new MergedRow.Id(key, stack.frames(), stack.cut());
    }

    /** The sum of two stacks whose names are the same; the process is left out. */
    private static StackRow sum(StackRow left, StackRow right) {
        Map<String, Object> key = new LinkedHashMap<>(left.key());
        key.entrySet().retainAll(right.key().entrySet());
        return new StackRow(key, left.frames(), left.cut(), left.count() + right.count());
    }
}
