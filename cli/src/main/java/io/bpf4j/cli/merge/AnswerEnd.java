package io.bpf4j.cli.merge;

import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Remark;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Gap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The end of an answer. <i>Immutable.</i>
 *
 * <p>Tested by {@code MergeCommandTest}.
 *
 * @param line the number of its line, from 1
 * @param intervals the number of intervals, according to the end
 * @param shown the number of events that are shown besides being counted, according to the end
 * @param events the number of events of all rows
 * @param missing events that the answer lacks, and begins and ends without partner
 * @param gaps the reasons why the answer is not exact, without those that are numbers of events
 * @param remarks the other facts
 * @param question the question, if the end has it
 */
record AnswerEnd(
        long line,
        long intervals,
        long shown,
        long events,
        Map<Gap, Long> missing,
        List<Diagnostic> gaps,
        List<Remark> remarks,
        Optional<AskedQuestion> question) {
    /**
     * Reads the record.
     *
     * @throws Refusal if it does not have the form of an end, or contradicts itself
     */
    static AnswerEnd read(Fields fields, long line) {
        long events = fields.count("events");
        long intervals = fields.optionalCount("intervals");
        long shown = fields.optionalCount("shown");
        Map<Gap, Long> missing = new EnumMap<>(Gap.class);
        for (Gap gap : Gap.values()) {
            long count = fields.optionalCount(AnswerReport.name(gap));
            if (count > 0) {
                missing.put(gap, count);
            }
        }
        boolean exact = fields.flag("exact");
        Optional<String> reason = fields.optionalText("reason");
        List<Diagnostic> gaps = new ArrayList<>();
        for (Object each : fields.optionalList("gaps")) {
            Remark gap = remark(Fields.of(each, "a gap"));
            gaps.add(new Diagnostic(
                    gap.kind().orElseThrow(() -> new Refusal("has a gap without 'kind'")),
                    gap.subject(),
                    gap.message()));
        }
        List<Remark> remarks = new ArrayList<>();
        for (Object each : fields.optionalList("remarks")) {
            remarks.add(remark(Fields.of(each, "a remark")));
        }
        Optional<AskedQuestion> question = fields.has("question")
                ? Optional.of(question(new Fields(fields.object("question"))))
                : Optional.empty();
        fields.end();
        boolean lacks = !gaps.isEmpty() || missing.keySet().stream().anyMatch(Gap::isMissing);
        if (exact && (lacks || reason.isPresent())) {
            throw new Refusal("says both that the answer is exact and that something is missing");
        }
        if (!exact && !lacks) {
            gaps.add(new Diagnostic(
                    Diagnostic.Kind.INEXACT,
                    "",
                    reason.orElseThrow(() -> new Refusal("says that the answer is not exact, without 'reason'"))));
        }
        return new AnswerEnd(line, intervals, shown, events, missing, gaps, remarks, question);
    }

    private static AskedQuestion question(Fields fields) {
        Map<Part, List<String>> parts = new EnumMap<>(Part.class);
        for (Part part : Part.values()) {
            if (fields.has(part.field())) {
                parts.put(part, part.isList() ? fields.texts(part.field()) : List.of(fields.text(part.field())));
            }
        }
        fields.end();
        return new AskedQuestion(parts);
    }

    private static Remark remark(Fields fields) {
        Optional<Diagnostic.Kind> kind = fields.optionalText("kind").map(AnswerEnd::kind);
        Remark remark = new Remark(kind, fields.optionalText("subject").orElse(""), fields.text("message"));
        fields.end();
        return remark;
    }

    private static Diagnostic.Kind kind(String name) {
        for (Diagnostic.Kind kind : Diagnostic.Kind.values()) {
            if (Remark.name(kind).equals(name)) {
                return kind;
            }
        }
        throw new Refusal("has a remark of the kind " + Refusal.quoted(name) + ", which this version does not know");
    }
}
