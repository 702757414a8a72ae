package io.bpf4j.cli.output;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which events an answer counts, and by which keys: the part of a question that is the same on all machines, as the
 * user wrote it. Answers of different questions must not be added up. <i>Immutable.</i>
 *
 * <p>Files, processes and the time are not in it, since they differ from machine to machine. Keys, units and buckets are
 * in the rows.
 *
 * <p>Tested by {@code AskedQuestionTest} and {@code CliMergeTest}.
 *
 * @param parts the parts that have a value, by their names in JSON, in the order of JSON. A list has the probes, or the
 *     kinds of stacks; an expression is a text
 */
public record AskedQuestion(Map<Part, List<String>> parts) {
    /** A part of a question. */
    public enum Part {
        /** The probes that are counted, sorted; of {@code latency} there are {@link #BEGIN} and {@link #END} instead. */
        PROBES("probes", true),
        BEGIN("begin", false),
        END("end", false),
        /** The expression by which begins and ends are paired. */
        PAIR("pair", false),
        /** The expression that is distributed. */
        OF("of", false),
        WHERE("where", false),
        /** {@code user}, {@code kernel}, or both. */
        STACKS("stacks", true);

        private final String field;
        private final boolean list;

        Part(String field, boolean list) {
            this.field = field;
            this.list = list;
        }

        /** The name of the field. */
        public String field() {
            return field;
        }

        /** Whether the field is a list. */
        public boolean isList() {
            return list;
        }
    }

    public AskedQuestion {
        Map<Part, List<String>> copy = new LinkedHashMap<>();
        for (Part part : Part.values()) {
            List<String> values = parts.getOrDefault(part, List.of());
            if (!values.isEmpty()) {
                copy.put(part, List.copyOf(values));
            }
        }
        parts = Collections.unmodifiableMap(copy);
    }

    /** A question about probes. Their order, and how often each is named, does not matter. */
    public static AskedQuestion about(List<String> probes) {
        return new AskedQuestion(
                Map.of(Part.PROBES, probes.stream().distinct().sorted().toList()));
    }

    /** A question about the time from one probe to another. */
    public static AskedQuestion fromTo(String begin, String end) {
        return new AskedQuestion(Map.of(Part.BEGIN, List.of(begin), Part.END, List.of(end)));
    }

    /** The question with a part. */
    public AskedQuestion with(Part part, String... values) {
        Map<Part, List<String>> all = new LinkedHashMap<>(parts);
        all.put(part, List.of(values));
        return new AskedQuestion(all);
    }

    /** Adds the question to a record. */
    void json(JsonLine line) {
        line.key("question").beginObject();
        parts.forEach((part, values) -> {
            line.key(part.field);
            if (part.list) {
                line.beginArray();
                values.forEach(line::value);
                line.endArray();
            } else {
                line.value(values.getFirst());
            }
        });
        line.endObject();
    }

    /** The parts in which this question differs from another that is not equal, as text. */
    public String differenceTo(AskedQuestion other) {
        List<String> differences = new ArrayList<>();
        for (Part part : Part.values()) {
            List<String> mine = parts.getOrDefault(part, List.of());
            List<String> others = other.parts.getOrDefault(part, List.of());
            if (!mine.equals(others)) {
                differences.add("its '" + part.field + "' is " + words(mine) + ", not " + words(others));
            }
        }
        return String.join("; ", differences);
    }

    private static String words(List<String> values) {
        return values.isEmpty() ? "absent" : "'" + Text.printable(String.join(", ", values)) + "'";
    }
}
