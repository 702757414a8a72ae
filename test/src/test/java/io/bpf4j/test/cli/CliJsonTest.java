package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The records that commands print with {@code --json} are those of docs/json.md. */
@Requires({BPF, BPF_COOKIE, GCC, HELD_COMMANDS})
@Timeout(600) // for what hangs
class CliJsonTest {
    /** The values that a field may have. A field has the same meaning in all records. */
    private static final Map<String, Predicate<@Nullable Object>> FIELDS = Map.ofEntries(
            Map.entry("type", String.class::isInstance),
            Map.entry("time", value -> value instanceof String text && Instant.parse(text) != null),
            Map.entry("ns", CliJsonTest::isCount),
            Map.entry("probe", value -> value instanceof String text && text.contains(":")),
            Map.entry("pid", CliJsonTest::isCount),
            Map.entry("tid", CliJsonTest::isCount),
            Map.entry("comm", String.class::isInstance),
            Map.entry("values", value -> value == null || value instanceof Map),
            Map.entry("latency_ns", CliJsonTest::isCount),
            Map.entry("path", String.class::isInstance),
            Map.entry("provider", String.class::isInstance),
            Map.entry("name", String.class::isInstance),
            Map.entry("args", value -> value instanceof List || value instanceof String),
            Map.entry("truncated", List.class::isInstance),
            Map.entry("unreadable", value -> value instanceof List || isCount(value)),
            Map.entry("key", Map.class::isInstance),
            Map.entry("count", CliJsonTest::isCount),
            Map.entry("unit", value -> "ns".equals(value) || "bytes".equals(value)),
            Map.entry("unsigned", Boolean.class::isInstance),
            Map.entry(
                    "linear",
                    value -> value instanceof Map<?, ?> scale && scale.keySet().equals(Set.of("from", "to", "step"))),
            Map.entry("buckets", CliJsonTest::areBuckets),
            Map.entry("sum", CliJsonTest::isNumber),
            Map.entry("min", CliJsonTest::isNumber),
            Map.entry("max", CliJsonTest::isNumber),
            Map.entry("frames", CliJsonTest::areTexts),
            Map.entry("cut", Boolean.class::isInstance),
            Map.entry("events", CliJsonTest::isCount),
            Map.entry("lost", CliJsonTest::isCount),
            Map.entry("intervals", CliJsonTest::isCount),
            Map.entry("shown", CliJsonTest::isCount),
            Map.entry("exact", Boolean.class::isInstance),
            Map.entry("reason", value -> value instanceof String text && !text.isBlank()),
            Map.entry("gaps", CliJsonTest::areRemarks),
            Map.entry("remarks", CliJsonTest::areRemarks),
            Map.entry("question", CliJsonTest::isQuestion),
            Map.entry("unpaired_ends", CliJsonTest::isCount),
            Map.entry("unpaired_begins", CliJsonTest::isCount),
            Map.entry("still_open", CliJsonTest::isCount),
            Map.entry("no_room_for_key", CliJsonTest::isCount),
            Map.entry("no_room_for_begin", CliJsonTest::isCount),
            Map.entry("returns_dropped", CliJsonTest::isCount),
            Map.entry("nestings_lost", CliJsonTest::isCount),
            Map.entry("stacks_lost", CliJsonTest::isCount),
            Map.entry("extremes_lost", CliJsonTest::isCount),
            Map.entry("unknown", CliJsonTest::isCount));

    /** The fields that each record of a type of answers has, in their order, and those that it may have. */
    private static final Map<String, List<List<String>>> ANSWERS = Map.of(
            "event",
            List.of(
                    List.of("type", "time", "ns"),
                    List.of(
                            "probe",
                            "pid",
                            "tid",
                            "comm",
                            "latency_ns",
                            "values",
                            "path",
                            "provider",
                            "name",
                            "args",
                            "truncated",
                            "unreadable")),
            "row",
            List.of(
                    List.of("type", "key"),
                    List.of("count", "unit", "unsigned", "linear", "buckets", "sum", "min", "max", "frames", "cut")),
            "interval",
            List.of(List.of("type", "time", "ns", "events"), List.of()),
            "end",
            List.of(
                    List.of("type", "events", "lost"),
                    List.of(
                            "intervals",
                            "shown",
                            "exact",
                            "reason",
                            "gaps",
                            "remarks",
                            "question",
                            "unreadable",
                            "unpaired_ends",
                            "unpaired_begins",
                            "still_open",
                            "no_room_for_key",
                            "no_room_for_begin",
                            "returns_dropped",
                            "nestings_lost",
                            "stacks_lost",
                            "extremes_lost",
                            "unknown")));

    /** The fields that are always there besides the first ones. */
    private static final Map<String, List<String>> ALWAYS = Map.of(
            "event", List.of("probe", "pid", "tid", "comm"),
            "row", List.of("count"),
            "interval", List.of(),
            "end", List.of("exact"));

    /** The type of the records of each command that prints a listing. */
    private static final Map<String, String> LISTINGS = Map.ofEntries(
            Map.entry("list", "probe"),
            Map.entry("catalog", "signature"),
            Map.entry("features", "feature"),
            Map.entry("inspect", "object"),
            Map.entry("generate", "class"),
            Map.entry("load", "load"),
            Map.entry("args", "args"),
            Map.entry("prog", "program"),
            Map.entry("map", "map"),
            Map.entry("link", "link"),
            Map.entry("btf", "btf"));

    private static final Set<String> RUN = new TreeSet<>();

    @TempDir
    private static Path folder;

    private static Path asked;

    @BeforeAll
    static void compile() {
        asked = CPrograms.asked();
    }

    private static boolean isCount(@Nullable Object value) {
        return value instanceof Long number && number >= 0;
    }

    private static boolean isNumber(@Nullable Object value) {
        return value instanceof Long || value instanceof BigInteger;
    }

    private static boolean areTexts(@Nullable Object value) {
        return value instanceof List<?> list && list.stream().allMatch(String.class::isInstance);
    }

    /** Lists of probes and kinds of stacks; texts of single probes and of expressions. */
    private static boolean isQuestion(@Nullable Object value) {
        return value instanceof Map<?, ?> parts
                && parts.entrySet().stream().allMatch(part -> switch (String.valueOf(part.getKey())) {
                    case "probes", "stacks" -> areTexts(part.getValue());
                    case "begin", "end", "pair", "of", "where" -> part.getValue() instanceof String;
                    default -> false;
                })
                && (parts.containsKey("probes") || parts.keySet().containsAll(List.of("begin", "end")));
    }

    /** Diagnostics of the library have a kind, and a subject if there is one; sentences of the command have neither. */
    private static boolean areRemarks(@Nullable Object value) {
        return value instanceof List<?> list
                && list.stream()
                        .allMatch(each -> each instanceof Map<?, ?> remark
                                && Set.of("kind", "subject", "message").containsAll(remark.keySet())
                                && remark.get("message") instanceof String
                                && (remark.get("kind") == null || KINDS.contains(remark.get("kind"))));
    }

    private static final Set<String> KINDS = Stream.of(Diagnostic.Kind.values())
            .map(kind -> kind.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    private static boolean areBuckets(@Nullable Object value) {
        return value instanceof List<?> list
                && list.stream()
                        .allMatch(each -> each instanceof Map<?, ?> bucket
                                && bucket.keySet().equals(Set.of("from", "to", "count"))
                                && isCount(bucket.get("count")));
    }

    /** The records of a run of the program. */
    private static List<Map<String, @Nullable Object>> ask(String run, String... question)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(question));
        line.addAll(1, List.of("--json", "-c", asked + " " + run));
        return answer(line.toArray(String[]::new));
    }

    /** The records of an answer, which keep the rules. */
    private static List<Map<String, @Nullable Object>> answer(String... line) throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> records = run(line);
        long intervals = count(records, "interval");
        assertThat(records.getLast().getOrDefault("intervals", 0L)).isEqualTo(intervals);
        boolean counted =
                records.stream().anyMatch(record -> "row".equals(record.get("type"))) && !line[0].equals("demo");
        assertThat(records.getLast().getOrDefault("shown", 0L)).isEqualTo(counted ? count(records, "event") : 0L);
        records.forEach(
                record -> assertThat(isAnswer(record)).as(record.toString()).isTrue());
        assertThat(records.getLast()).containsEntry("type", "end");
        assertThat(records.subList(0, records.size() - 1)).noneMatch(record -> "end".equals(record.get("type")));
        assertThat(records.getLast().containsKey("reason"))
                .isNotEqualTo(records.getLast().get("exact"));
        return records;
    }

    private static List<Map<String, @Nullable Object>> run(String... line) throws IOException, InterruptedException {
        RUN.add(line[0]);
        Commands.Result result = Cli.run(line);
        assertThat(result.exitCode()).as(Arrays.toString(line) + result.err()).isZero();
        return Json.lines(result.out());
    }

    private static boolean isAnswer(Map<String, @Nullable Object> record) {
        String type = String.valueOf(record.get("type"));
        List<List<String>> schema = ANSWERS.get(type);
        if (schema == null) {
            return false;
        }
        List<String> names = List.copyOf(record.keySet());
        List<String> first = schema.getFirst();
        Set<String> rest = new LinkedHashSet<>(names);
        first.forEach(rest::remove);
        return names.size() >= first.size()
                && names.subList(0, first.size()).equals(first)
                && schema.getLast().containsAll(rest)
                && rest.containsAll(ALWAYS.getOrDefault(type, List.of()))
                && record.entrySet().stream().allMatch(field -> {
                    Predicate<@Nullable Object> values = FIELDS.get(field.getKey());
                    return values != null && values.test(field.getValue());
                });
    }

    private static long count(List<Map<String, @Nullable Object>> records, String type) {
        return types(records).stream().filter(type::equals).count();
    }

    private static long number(Map<String, @Nullable Object> record, String field) {
        return (Long) Objects.requireNonNull(record.get(field));
    }

    private static List<String> types(List<Map<String, @Nullable Object>> records) {
        return records.stream()
                .map(record -> String.valueOf(record.get("type")))
                .toList();
    }

    @Test
    void theRecordsOfAnswersAreThoseOfTheSchema() throws IOException, InterruptedException {
        assertThat(types(ask("values 30", "count", "asked:value", "--by", "str(arg1)")))
                .containsExactly("row", "row", "row", "end");
        assertThat(types(ask("values 30", "hist", "asked:value", "--of", "arg2")))
                .containsExactly("row", "end");
        assertThat(types(ask(
                        "pairs 3 3000", "latency", "asked:begin", "asked:end", "--slower", "1ms", "--show", "arg0")))
                .containsExactly("event", "event", "event", "row", "end");
        assertThat(ask("tree 3", "stack", "asked:leaf").getFirst()).containsKey("frames");
        assertThat(types(ask("values 3", "trace", "asked:value"))).containsExactly("event", "event", "event", "end");
        assertThat(types(ask("values 3", "trace", "asked:value", "--show", "arg0")))
                .containsExactly("event", "event", "event", "end");
        assertThat(types(ask("values 3", "top", "asked:value", "--by", "pid"))).containsExactly("row", "end");
        assertThat(types(answer("demo", "--json", "--seconds", "1"))).contains("event", "row");
    }

    @Test
    void aSumHasTheRecordsOfAnAnswer() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> linear =
                ask("values 30", "hist", "asked:value", "--of", "arg0", "--linear", "0:15:10");
        assertThat(linear.getFirst())
                .containsEntry("unsigned", false)
                .containsEntry("linear", Map.of("from", 0L, "to", 20L, "step", 10L));
        String file = Files.writeString(
                        folder.resolve("hist.json"),
                        Cli.run("hist", "--json", "-c", asked + " values 30", "asked:value", "--of", "arg0")
                                .out())
                .toString();
        assertThat(types(answer("merge", "--json", file))).containsExactly("row", "end");
    }

    /** Ready questions are other commands, with names of the catalog. */
    @Test
    @Requires(HOTSPOT_PROBES)
    void aReadyQuestionHasTheRecordsOfItsCommand() throws IOException, InterruptedException {
        String java = Java.path();
        assertThat(types(answer("jvm", "threads", "--json", "-c", java + " -version")))
                .contains("end");
    }

    @Test
    void anIntervalFollowsItsRows() throws IOException, InterruptedException {
        for (List<String> question : List.of(
                List.of("count", "asked:end"),
                List.of("stack", "asked:end"),
                List.of("latency", "asked:begin", "asked:end"))) {
            List<String> line = new ArrayList<>(question);
            line.addAll(List.of("--every", "10ms"));
            List<Map<String, @Nullable Object>> records = ask("pairs 300 10000", line.toArray(String[]::new));
            assertThat(types(records)).as(line.toString()).contains("interval").endsWith("row", "end");
            long last = 0;
            long rows = 0;
            for (Map<String, @Nullable Object> record : records) {
                switch (String.valueOf(record.get("type"))) {
                    case "row" -> rows += number(record, "count");
                    case "interval" -> {
                        last = number(record, "events");
                        assertThat(rows)
                                .as("the events of the rows before %s", record)
                                .isEqualTo(last);
                        rows = 0;
                    }
                    default ->
                        assertThat((Long) record.get("events")).isEqualTo(rows).isGreaterThanOrEqualTo(last);
                }
            }
        }
    }

    @Test
    void whatTheAnswerLacksIsTheReason() throws IOException, InterruptedException {
        assertThat(ask("bare", "count", "asked:value", "--by", "str(arg1)").getLast())
                .containsEntry("exact", false)
                .containsEntry("reason", "1 event left out: a value could not be read");
        assertThat(ask("values 30", "count", "--no-hold", "asked:value").getLast())
                .containsEntry("exact", false)
                .containsKey("reason")
                .hasEntrySatisfying("gaps", gaps -> assertThat(gaps).asString().contains("kind=late"));
    }

    @Test
    void remarksOfStandardErrorAreInTheEnd() throws IOException, InterruptedException {
        Path program = CPrograms.compile("stacks", "-O2", "-fomit-frame-pointer");
        List<Map<String, @Nullable Object>> early = answer("stack", "--json", "-c", program + " 5", "u:probed");
        assertThat(String.valueOf(early.getLast().get("remarks"))).contains("message=", "end early");
    }

    @Test
    void theRecordsOfListingsHaveATypeFirst() throws IOException, InterruptedException {
        Path object = Files.write(
                folder.resolve("object.bpf.o"),
                TestObjects.bytes(TestObjects.names().getFirst()));
        for (String[] line : List.of(
                new String[] {"list", "--json", asked.toString()},
                new String[] {"catalog", "--json", "hotspot:gc__begin"},
                new String[] {"features", "--json"},
                new String[] {"inspect", "--json", object.toString()},
                new String[] {"generate", "--json", "-d", folder.toString(), object.toString()},
                new String[] {"load", "--json", object.toString()},
                new String[] {"args", "--json", "8@%rax"})) {
            listing(line);
        }
    }

    private static void listing(String... line) throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> records = run(line);
        assertThat(records).as(line[0]).isNotEmpty().allSatisfy(record -> {
            assertThat(record.keySet().iterator().next()).isEqualTo("type");
            assertThat(record).containsEntry("type", LISTINGS.get(line[0]));
        });
    }

    @Test
    void theRecordsOfLoadedObjectsHaveATypeFirst() throws IOException, InterruptedException {
        try (BpfObject object = Bpf.load("links.bpf.o");
                Link _ = object.programs().stream()
                        .filter(program -> program.spec().sectionName().startsWith("tracepoint/"))
                        .findFirst()
                        .orElseThrow()
                        .attach()) {
            for (String command : List.of("prog", "map", "link", "btf")) {
                listing(command, "list", "--json");
            }
        }
    }

    @Test
    void remarksOfAListAreItsLastRecord() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("list", "--json", asked.toString(), "asked:value", "asked:valeu");
        List<Map<String, @Nullable Object>> records = Json.lines(result.out());
        assertThat(types(records)).containsExactly("probe", "remarks");
        assertThat(String.valueOf(records.getLast().get("remarks"))).contains("asked:valeu");
        assertThat(result.err()).contains("asked:valeu");
    }

    /** A new command with the option belongs to a test above. */
    @AfterAll
    static void eachCommandWithTheOptionWasRun() throws IOException, InterruptedException {
        List<String> commands = Cli.check("--help")
                .lines()
                .filter(line -> line.matches("  [a-z]+ .*"))
                .map(line -> line.strip().split(" ", 2)[0])
                .filter(name -> Stream.of("jvm", "postgres", "mysql", "python", "node", "php", "cxx", "ruby", "libc")
                        .noneMatch(name::equals))
                .toList();
        assertThat(commands).contains("count", "list");
        if (RUN.size() > LISTINGS.size()) {
            for (String command : commands) {
                if (Cli.run(command, "--help").out().contains("--json")) {
                    assertThat(RUN).contains(command);
                }
            }
        }
    }
}
