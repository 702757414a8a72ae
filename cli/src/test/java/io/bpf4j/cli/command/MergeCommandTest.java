package io.bpf4j.cli.command;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.question.HistogramScale;
import io.bpf4j.cli.question.HistogramScale.Linear;
import io.bpf4j.trace.Distribution;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MergeCommandTest {
    private static final String A = "{\"type\":\"row\",\"key\":{\"comm\":\"a\"},\"count\":3}";
    private static final String B = "{\"type\":\"row\",\"key\":{\"comm\":\"b\"},\"count\":2}";
    private static final String HISTOGRAM =
            "{\"type\":\"row\",\"key\":{},\"unit\":\"ns\",\"unsigned\":true,\"buckets\":"
                    + "[{\"from\":8,\"to\":9,\"count\":1}],\"count\":1,\"sum\":9,\"min\":9,\"max\":9}";
    private static final String EVENT = "{\"type\":\"event\",\"time\":\"2026-01-02T03:04:05Z\",\"ns\":8}";

    @TempDir
    private Path folder;

    private static String end(long events) {
        return "{\"type\":\"end\",\"events\":" + events + ",\"lost\":0,\"exact\":true}";
    }

    private static String end(long events, long intervals, long shown) {
        return end(events)
                .replace(
                        "\"exact\"",
                        (intervals > 0 ? "\"intervals\":" + intervals + "," : "")
                                + (shown > 0 ? "\"shown\":" + shown + "," : "") + "\"exact\"");
    }

    private static String interval(long events) {
        return "{\"type\":\"interval\",\"time\":\"2026-01-02T03:04:05Z\",\"ns\":8,\"events\":" + events + "}";
    }

    private String file(String name, String... lines) throws IOException {
        return Files.writeString(folder.resolve(name), String.join("\n", lines) + "\n")
                .toString();
    }

    /** The message with which a file is refused, after its name. */
    private String refused(String... lines) throws IOException {
        String file = file("refused.json", lines);
        Run run = Run.of("merge", file);
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).singleElement().asString().startsWith("bpf4j: " + file + ":");
        return run.err().getFirst().substring(("bpf4j: " + file + ":").length());
    }

    @Test
    void countsAreAddedUpByKeyAndRankedAgain() throws IOException {
        String one = file("one", A, B, end(5));
        String two = file("two", B.replace(":2}", ":9}"), end(9));
        assertThat(Run.of("merge", one, two).out()).containsExactly("COUNT  comm", "11     b", "3      a", "14 events");
        assertThat(Run.of("merge", "--json", one, two).out()).containsExactly(B.replace(":2}", ":11}"), A, end(14));
        assertThat(Run.withInput(String.join("\n", A, end(3)), "merge", two, "-")
                        .out())
                .containsExactly("COUNT  comm", "9      b", "3      a", "12 events");
    }

    @Test
    void anAnswerWithoutQuestionMayBeOfAnother() throws IOException {
        String known = end(3).replace("true}", "true,\"question\":{\"probes\":[\"a:b\"],\"where\":\"arg0\"}}");
        String one = file("one", A, known);
        String two = file("two", A, end(3));
        assertThat(Run.of("merge", "--json", one, one(known)).out()).endsWith(known.replace(":3", ":6"));
        Run mixed = Run.of("merge", "--json", one, two);
        assertThat(mixed.out().getLast())
                .doesNotContain("question\"")
                .contains("the answer of " + two + " does not name its question, which may differ from that of " + one);
        assertThat(refused(A, known.replace("where", "with"))).contains("has the field 'with', which this version");
        assertThat(refused(A, known.replace("\"arg0\"", "7"))).contains("has a field 'where' that is not a string");
        assertThat(refused(A, known.replace("[\"a:b\"]", "[7]"))).contains("that is not a list of strings");
    }

    private String one(String end) throws IOException {
        return file("another", A, end);
    }

    @Test
    void aHistogramHasTheBucketsBetween() throws IOException {
        String one = file("one", HISTOGRAM, end(1));
        String two = file(
                "two",
                HISTOGRAM
                        .replace("\"from\":8,\"to\":9", "\"from\":14,\"to\":15")
                        .replace(":9", ":15"),
                end(1));
        assertThat(Run.of("merge", "--json", one, two).out().getFirst())
                .contains("\"buckets\":[{\"from\":8,\"to\":9,\"count\":1},{\"from\":10,\"to\":11,\"count\":0},"
                        + "{\"from\":12,\"to\":13,\"count\":0},{\"from\":14,\"to\":15,\"count\":1}],"
                        + "\"count\":2,\"sum\":24,\"min\":9,\"max\":15");
        assertThat(Run.of("merge", one, two).out())
                .containsExactly(
                        "  8 ns .. 16 ns  2  ██████████████████████████████████████████████████",
                        "  2 events, min 9 ns, mean 12 ns, p99 <= 15 ns, max 15 ns",
                        "");
    }

    /** Numbers of processes are another machine's, so people see the stacks of all. */
    @Test
    void stacksOfSeveralProcessesAreOneForPeople() throws IOException {
        String stack = "{\"type\":\"row\",\"key\":{\"pid\":1},\"frames\":[\"leaf\",\"main\"],\"count\":3,\"cut\":true}";
        String one = file("one", stack, stack.replace("leaf", "lock"), end(6));
        String two = file("two", stack.replace(":1}", ":2}"), end(3));
        assertThat(Run.of("merge", one, two).out())
                .containsExactly(
                        "6",
                        "    leaf",
                        "    main",
                        "    [cut]",
                        "",
                        "3 pid=1",
                        "    lock",
                        "    main",
                        "    [cut]",
                        "",
                        "9 events");
        assertThat(Run.of("merge", "--json", one, two).out())
                .containsExactly(stack, stack.replace("leaf", "lock"), stack.replace(":1}", ":2}"), end(9));
    }

    @Test
    void aSumIsDrawnLikeAnAnswer() throws IOException {
        Path html = folder.resolve("sum.html");
        Path svg = folder.resolve("sum.svg");
        String asked = end(5).replace("true}", "true,\"question\":{\"probes\":[\"a:b\"]}}");
        String one = file("one", A, B, asked);
        Run run = Run.of("merge", "--html", html.toString(), "--svg", svg.toString(), one, "-");
        assertThat(run.code()).as(String.join("\n", run.err())).isEqualTo(CommandTree.FAILED);
        assertThat(html).doesNotExist();
        String two = file("two", A, asked.replace(":5", ":3"));
        run = Run.of("merge", "--html", html.toString(), "--svg", svg.toString(), one, two);
        assertThat(run.out()).containsExactly("COUNT  comm", "6      a", "2      b", "8 events");
        assertThat(html)
                .content()
                .contains("<h1>a:b</h1>", "bpf4j merge --html", "8 events", "<td class=\"key\">a</td>")
                .doesNotContain("script");
        assertThat(svg).content().startsWith("<?xml").contains("a:b", "8 events");
        String histogram = file("histogram", HISTOGRAM, end(1));
        assertThat(Run.of("merge", "--html", html.toString(), histogram).code()).isEqualTo(CommandTree.OK);
        assertThat(html).content().contains("<h1>merged answers</h1>", "8 ns .. 16 ns");
    }

    @Test
    void stacksAreAFlameGraphOrFoldedLines() throws IOException {
        Path html = folder.resolve("sum.html");
        Path svg = folder.resolve("sum.svg");
        String stack = "{\"type\":\"row\",\"key\":{\"pid\":1},\"frames\":[\"leaf;\",\"main\"],\"count\":3}";
        String one = file("one", stack, stack.replace("leaf;", "</script>"), end(6));
        String two = file("two", stack.replace(":1}", ":2}").replace(":3}", ":4,\"cut\":true}"), end(4));
        Run run = Run.of("merge", "--folded", "--html", html.toString(), "--svg", svg.toString(), one, two);
        assertThat(run.out()).containsExactly("[cut];main;leaf\\x3b 4", "main;</script> 3", "main;leaf\\x3b 3");
        assertThat(run.err()).containsExactly("bpf4j: 10 events");
        assertThat(html)
                .content()
                .contains("leaf; \u2190 main", "id=\"flamegraph\"")
                .doesNotContain("</script> \u2190");
        assertThat(svg).content().startsWith("<?xml").contains("10 events");
        assertThat(Run.of("merge", "--folded", "--json", one).code()).isEqualTo(CommandTree.USAGE);
        assertThat(Run.of("merge", "--folded", file("counts", A, end(3))).err())
                .containsExactly("bpf4j: --folded prints stacks, but the answers have counts");
        run = Run.of("merge", "--folded", file("empty", end(0)));
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).containsExactly("bpf4j: 0 events");
    }

    @Test
    void onlyTheLastIntervalCounts() throws IOException {
        assertThat(Run.of("merge", "--json", file("every", A, interval(3), A, B, interval(5), B, A, end(5, 2, 0)))
                        .out())
                .containsExactly(A, B, end(5));
    }

    /** The rows before the end of an interval do not count, so the rest of another answer could hide among them. */
    @Test
    void theRestOfAnAnswerBeforeAnotherIsRefused() throws IOException {
        String cutOff = ": the previous answer is cut off";
        assertThat(refused(B, interval(2), A, interval(3), A, end(3, 1, 0)))
                .isEqualTo("6: ends an answer with 1 intervals and 0 shown events, but 2 and 0 precede it" + cutOff);
        assertThat(refused(B, interval(2), A, end(3)))
                .isEqualTo("4: ends an answer with 0 intervals and 0 shown events, but 1 and 0 precede it" + cutOff);
        assertThat(refused(EVENT, EVENT, A, end(3, 0, 1)))
                .isEqualTo("4: ends an answer with 0 intervals and 1 shown events, but 0 and 2 precede it" + cutOff);
        assertThat(refused(EVENT, A, end(3)))
                .isEqualTo("3: ends an answer with 0 intervals and 0 shown events, but 0 and 1 precede it" + cutOff);
        assertThat(refused(EVENT, end(0)))
                .isEqualTo("2: ends an answer with 0 intervals and 0 shown events, but 0 and 1 precede it" + cutOff);
        assertThat(refused(B, A, interval(3), A, end(3, 1, 0)))
                .isEqualTo("3: ends an interval of 3 events, but its rows have 5: the end of the previous answer is"
                        + " missing");
        assertThat(refused(A, end(3, 1, 0)))
                .isEqualTo("2: ends an answer with 1 intervals and 0 shown events, but 0 and 0 precede it: some are"
                        + " missing");
        assertThat(refused(A, interval(5), A, B, end(5, 1, 0)))
                .isEqualTo("2: ends an interval of 5 events, but its rows have 3: rows are missing");
        assertThat(refused(B, A, end(3)))
                .isEqualTo("3: ends an answer of 3 events, but its rows have 5: the end of the previous answer is"
                        + " missing");
        assertThat(Run.of("merge", file("two", A, interval(3), A, B, end(5, 1, 0), EVENT, B, end(2, 0, 1), A, end(3)))
                        .out())
                .contains("10 events");
    }

    /** Buckets from 10 on, with one below, are the buckets from 0 on. */
    @ParameterizedTest
    @CsvSource({"true, 10, 10230, 10", "true, 0, 10220, 10", "true, 10, 20, 10", "true, 1, 1023, 1", "false, -5, 5, 1"})
    void aHistogramWithAsManyBucketsAsPossibleIsMerged(boolean unsigned, long from, long to, long step) {
        HistogramScale scale = HistogramScale.of(Distribution.withoutEvents(unsigned, from, to, step));
        assertThat(scale.withoutEvents()).isEqualTo(Distribution.withoutEvents(unsigned, from, to, step));
        Linear linear = scale.linear().orElseThrow();
        String row = HISTOGRAM
                .replace(
                        "\"unsigned\":true",
                        "\"unsigned\":" + unsigned + ",\"linear\":{\"from\":" + linear.from() + ",\"to\":" + linear.to()
                                + ",\"step\":" + linear.step() + "}")
                .replace("\"from\":8,\"to\":9", bucketOf(4, scale))
                .replace("\"sum\":9,\"min\":9,\"max\":9", "\"sum\":4,\"min\":4,\"max\":4");
        assertThat(Run.withInput(row + "\n" + end(1), "merge", "--json").out()).containsExactly(row, end(1));
    }

    private static String bucketOf(long value, HistogramScale scale) {
        return scale.withoutEvents().buckets().stream()
                .filter(bucket -> bucket.from() <= value && bucket.to() >= value)
                .map(bucket -> "\"from\":" + bucket.from() + ",\"to\":" + bucket.to())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatAnAnswerLacksIsKeptWithItsFile() throws IOException {
        String one = file(
                "one",
                A,
                "{\"type\":\"end\",\"events\":3,\"lost\":0,\"no_room_for_key\":7,\"exact\":false,\"reason\":\"7 events left"
                        + " out: no room for more keys (--max-keys); it began late\",\"gaps\":[{\"kind\":\"late\","
                        + "\"subject\":\"s\",\"message\":\"it began late\"}],\"remarks\":[{\"message\":\"a\\u001b[2J\"}]}");
        String two = file(
                "two",
                A,
                "{\"type\":\"end\",\"events\":3,\"lost\":0,\"no_room_for_key\":1,\"exact\":false,"
                        + "\"reason\":\"1 event left out: no room for more keys (--max-keys)\"}");
        Run text = Run.of("merge", one, two);
        assertThat(text.code()).isEqualTo(CommandTree.OK);
        assertThat(text.out())
                .containsExactly(
                        "COUNT  comm",
                        "6      a",
                        "6 events, 8 left out: no room for more keys (--max-keys); not exact: " + one
                                + ": it began late");
        String noRoom = ": no room was left for more keys, and ";
        String maybe = " left out; so keys may be missing from this sum or counted too low, and the order may be wrong";
        assertThat(text.err())
                .containsExactly(
                        "bpf4j: " + one + ": a\\x1b[2J",
                        "bpf4j: " + one + noRoom + "7 events were" + maybe,
                        "bpf4j: " + two + noRoom + "1 event was" + maybe);
        String end = Run.of("merge", "--json", one, two).out().getLast();
        assertThat(end)
                .startsWith(
                        "{\"type\":\"end\",\"events\":6,\"lost\":0,\"no_room_for_key\":8,\"exact\":false,\"reason\":\""
                                + one
                                + ": it began late; 8 events left out: no room for more keys (--max-keys)\",\"gaps\":[{\"kind\":"
                                + "\"late\",\"subject\":\"s\",\"message\":\"" + one
                                + ": it began late\"}],\"remarks\":[{\"message\":\""
                                + one + ": a\\u001b[2J\"},{\"kind\":\"left_out\",")
                .doesNotContain("\u001b");
        Run again = Run.withInput(String.join("\n", A, end(3), A, end(3), A.replace('3', '6'), end), "merge", "--json");
        assertThat(again.out().getLast()).contains("\"standard input:6: " + one + ": it began late\"");
        assertThat(again.err())
                .as("a sum of sums names each machine once")
                .containsExactly(
                        "bpf4j: standard input:6: " + one + ": a\\x1b[2J",
                        "bpf4j: standard input:6: " + one + noRoom + "7 events were" + maybe,
                        "bpf4j: standard input:6: " + two + noRoom + "1 event was" + maybe);
    }

    @Test
    void whatIsNotExactForAnUnknownReasonStaysSo() throws IOException {
        String one = file("one", A, end(3).replace("true", "false,\"reason\":\"of the moon\""));
        assertThat(Run.of("merge", one).out().getLast()).isEqualTo("3 events; not exact: " + one + ": of the moon");
    }

    @Test
    void eventsThatAreShownAreCountedOnly() throws IOException {
        String one = file("one", EVENT, A, end(3, 0, 1));
        Run run = Run.of("merge", one);
        assertThat(run.out()).containsExactly("COUNT  comm", "3      a", "3 events");
        assertThat(run.err())
                .containsExactly("bpf4j: " + one + ": shows 1 event; the sum counts it and does not show it");
        assertThat(refused(EVENT, end(1)))
                .isEqualTo("2: ends an answer that only shows events, so there is nothing to add up");
    }

    @Test
    void rowsWithOneProcessNumberOnTwoMachinesAreTold() throws IOException {
        String row = "{\"type\":\"row\",\"key\":{\"pid\":4711},\"count\":3}";
        String one = file("one", row, end(3));
        assertThat(Run.of("merge", one).err()).isEmpty();
        assertThat(Run.of("merge", one, file("two", row, end(3))).err())
                .singleElement()
                .asString()
                .isEqualTo("bpf4j: a pid or tid is a number of one machine only: rows of different answers with equal"
                        + " numbers were added up");
    }

    @Test
    void hostileNamesAreEscaped() throws IOException {
        String row = A.replace("\"a\"", "\"\\u001b[2J\\udcff\\u202e\"");
        Run run = Run.of("merge", file("one", row, end(3)));
        assertThat(run.out()).containsExactly("COUNT  comm", "3      \\x1b[2J\\xff\\u{202e}", "3 events");
        assertThat(Run.of("merge", "--json", file("one", row, end(3))).out()).containsExactly(row, end(3));
        assertThat(refused(A, A.replace("comm", "\\u001b[2J"), end(6)))
                .isEqualTo("2: answers another question than " + folder.resolve("refused.json")
                        + ":1: its keys are '\\x1b[2J', not 'comm'");
        assertThat(Run.of("merge", file("a\u001b[2J", "x")).err().getFirst()).doesNotContain("\u001b");
    }

    /** A program can give its threads such names. */
    @Test
    void namesWithOneHashAreKeysOfTheirOwn() throws IOException {
        List<String> names = List.of("");
        for (int length = 0; length < 14; length++) {
            names = names.stream()
                    .flatMap(name -> Stream.of(name + "Aa", name + "BB"))
                    .toList();
        }
        assertThat(names.stream().map(String::hashCode).distinct()).hasSize(1);
        String answer = names.stream()
                        .map(name -> A.replace("\"a\"", "\"" + name + "\""))
                        .collect(joining("\n")) + "\n" + end(3L * names.size()) + "\n";
        Run run = Run.withInput(answer + answer, "merge", "--json");
        assertThat(run.out()).hasSize(names.size() + 1).endsWith(end(6L * names.size()));
        assertThat(run.out().getFirst())
                .isEqualTo(A.replace("\"a\"", "\"" + names.getFirst() + "\"").replace('3', '6'));
    }

    /** What looks the same in a table may be two values. */
    @Test
    void valuesOfDifferentTypesAreDifferentKeys() throws IOException {
        String row = "{\"type\":\"row\",\"key\":{\"x\":1},\"count\":3}";
        List<String> rows = Stream.of("1", "1.0", "\"1\"", "true", "18446744073709551615", "0.0", "-0.0")
                .map(value -> row.replace(":1}", ":" + value + "}"))
                .toList();
        String answer = String.join("\n", rows) + "\n" + end(21) + "\n";
        assertThat(Run.withInput(answer + answer, "merge", "--json").out())
                .hasSize(8)
                .containsAll(rows.stream()
                        .map(each -> each.replace("\"count\":3", "\"count\":6"))
                        .toList());
    }

    /** An answer without events does not say what the question was. */
    @Test
    void anAnswerWithoutEventsFitsToAll() throws IOException {
        String none = file("none", end(0));
        assertThat(Run.of("merge", none).out()).containsExactly("0 events");
        assertThat(Run.of("merge", "--json", none, file("one", HISTOGRAM, end(1)))
                        .out())
                .containsExactly(HISTOGRAM, end(1));
    }

    @Test
    void answersOfDifferentQuestionsAreRefused() throws IOException {
        String other = ": answers another question than " + folder.resolve("refused.json") + ":1: ";
        assertThat(refused(A, A.replace("comm", "pid"), end(6)))
                .isEqualTo("2" + other + "its keys are 'pid', not 'comm'");
        assertThat(refused(A, HISTOGRAM, end(4))).isEqualTo("2" + other + "a row of histograms, not of counts");
        assertThat(refused(HISTOGRAM, A, end(4))).isEqualTo("2" + other + "a row of counts, not of histograms");
        assertThat(refused(A, A.replace("\"count\"", "\"frames\":[],\"count\""), end(6)))
                .isEqualTo("2" + other + "a row of stacks, not of counts");
        assertThat(refused(HISTOGRAM, HISTOGRAM.replace("\"ns\"", "\"bytes\""), end(2)))
                .isEqualTo("2" + other + "its unit is 'bytes', not 'ns'");
        assertThat(refused(HISTOGRAM, HISTOGRAM.replace("\"unit\":\"ns\",", ""), end(2)))
                .isEqualTo("2" + other + "its unit is unknown, not 'ns'");
        assertThat(refused(HISTOGRAM, HISTOGRAM.replace("true", "false"), end(2)))
                .isEqualTo("2" + other + "its buckets are signed, by powers of two; not unsigned, by powers of two");
        assertThat(refused(
                        HISTOGRAM,
                        HISTOGRAM.replace("true", "true,\"linear\":{\"from\":0,\"to\":20,\"step\":2}"),
                        end(2)))
                .isEqualTo("2" + other + "its buckets are unsigned, linear 0:20:2; not unsigned, by powers of two");
        String one = file("one", A, end(3));
        String two = file("two", A.replace("comm", "pid"), end(3));
        assertThat(Run.of("merge", one, two).err())
                .containsExactly("bpf4j: " + two + ":1: answers another question than " + one
                        + ":1: its keys are 'pid', not 'comm'");
    }

    @Test
    void anInputThatIsCutOffIsRefused() throws IOException {
        String whole = String.join("\n", A, B, end(5)) + "\n";
        Path cut = folder.resolve("cut");
        for (int length = 0; length < whole.length() - 1; length++) {
            Files.writeString(cut, whole.substring(0, length));
            Run run = Run.of("merge", cut.toString());
            assertThat(run.code()).as(whole.substring(0, length)).isEqualTo(CommandTree.FAILED);
            assertThat(run.out()).isEmpty();
            assertThat(run.err())
                    .singleElement()
                    .asString()
                    .matches(".*: is empty; it has no answer|.*:[123]: .*: the input is cut off|"
                            + ".*:[123]: .*; the line has no line feed, so the input is cut off");
        }
        assertThat(refused(A)).isEqualTo("1: is the last line, but not the end of an answer: the input is cut off");
        assertThat(refused(A, end(3), A))
                .isEqualTo("3: is the last line, but not the end of an answer: the input is cut off");
        assertThat(refused(A, end(5)))
                .isEqualTo("2: ends an answer of 5 events, but its rows have 3: rows are missing");
    }

    @Test
    void whatIsNoAnswerIsRefused() throws IOException {
        assertThat(refused("COUNT  comm", "3      a")).isEqualTo("1: is not JSON: an object is expected at column 1");
        assertThat(refused(A, "{\"type\":\"probe\"}"))
                .isEqualTo(
                        "2: is a record of the type 'probe'; only answers of count, hist, latency, stack and top can be"
                                + " merged");
        assertThat(refused("{\"a\":1}")).isEqualTo("1: lacks the field 'type'");
        Files.write(folder.resolve("bytes"), new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}', '\n'});
        assertThat(Run.of("merge", folder.resolve("bytes").toString()).err().getFirst())
                .endsWith("bytes:1: is not UTF-8 at column 3");
        assertThat(Run.of("merge", folder.toString()).err().getFirst()).endsWith(": is a directory; name a file in it");
        assertThat(Run.of("merge", folder.resolve("gone").toString()).err().getFirst())
                .endsWith("gone: no such file");
    }

    @Test
    void linesThatContradictEachOtherAreRefused() throws IOException {
        assertThat(refused(A, A, end(6)))
                .isEqualTo(
                        "2: repeats the key of line 1; an answer has one row for each key; the end of the previous answer"
                                + " may be missing");
        assertThat(refused(A, end(3), end(3)))
                .isEqualTo("3: ends an answer of 3 events, but its rows have 0: rows are missing");
        String one = file("one", A, end(3));
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of(one));
        Run twice = Run.of("merge", one, link.toString());
        assertThat(twice.code()).isEqualTo(CommandTree.USAGE);
        assertThat(twice.err().getFirst())
                .isEqualTo("bpf4j merge: '" + link + "' is the same as '" + one + "', so its events would count twice");
        assertThat(Run.of("merge", "-", "-").code()).isNotEqualTo(CommandTree.OK);
        assertThat(refused(A, end(3).replace("0,", "1,")))
                .isEqualTo("2: says both that the answer is exact and that something is missing");
        assertThat(refused(A, end(3).replace("true", "false")))
                .isEqualTo("2: says that the answer is not exact, without 'reason'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"unsigned\":true,| |lacks the field 'unsigned'",
                "\"from\":8|\"from\":7|has buckets that do not match its scale (unsigned, by powers of two): no such bucket,"
                        + " or not in ascending order: 7 to 9",
                "\"to\":9|\"to\":-9|has a field 'to' that is not an unsigned 64-bit number",
                "\"count\":1}]|\"count\":2}]|counts 1 events, but has 2 in its buckets",
                "\"count\":1}]|\"count\":1.0}]|has a field 'count' that is not a number of events, from 0 to 2^63 - 1",
                "[{|[5,{|has a bucket that is not an object",
                "\"key\":{}|\"key\":{\"a\":null}|has the key 'a', whose value is not a string, a number"
                        + " or a boolean",
                "\"max\":9|\"max\":9,\"mean\":9|has the field 'mean', which this version can't merge",
                "true|true,\"linear\":{\"from\":0,\"to\":2000,\"step\":1}|has no possible 'linear' buckets: from 0 to 2000 by 1 are"
                        + " 2000 buckets; 1 to 1022 are possible",
            })
    void aRowWhoseNumbersAreWrongIsRefused(String part, String other, String message) throws IOException {
        String row = HISTOGRAM.replace(part, other == null ? "" : other);
        assertThat(row).isNotEqualTo(HISTOGRAM);
        assertThat(refused(row, end(1))).isEqualTo("1: " + message);
    }

    @Test
    void numbersThatExceed64BitsAreRefused() throws IOException {
        assertThat(refused(A.replace("3}", "18446744073709551616}")))
                .isEqualTo("1: has the number '18446744073709551616', which needs more than 64 bits");
        assertThat(refused(A.replace("3}", "9223372036854775808}")))
                .isEqualTo("1: has a field 'count' that is not a number of events, from 0 to 2^63 - 1");
        String most = A.replace("3}", "9223372036854775807}");
        assertThat(refused(most, B, end(5))).isEqualTo("3: ends an answer with more than 2^63 - 1 events");
        assertThat(refused(most, end(Long.MAX_VALUE), A, end(3)))
                .isEqualTo("3: makes the number of events exceed 2^63 - 1");
        String missing =
                "{\"type\":\"end\",\"events\":3,\"lost\":0,\"unpaired_ends\":9223372036854775807,\"exact\":true}";
        assertThat(refused(A, missing, A, missing)).isEqualTo("4: makes the number of missing events exceed 2^63 - 1");
        String stack = "{\"type\":\"row\",\"key\":{},\"frames\":[],\"count\":9223372036854775807}";
        assertThat(refused(stack, stack)).isEqualTo("2: makes the number of events exceed 2^63 - 1");
    }

    /** Sums are modulo 2^64, those of an answer and those of several. */
    @Test
    void sumsOfValuesMayExceed64Bits() throws IOException {
        String large = HISTOGRAM.replace("\"sum\":9", "\"sum\":18446744073709551615");
        assertThat(Run.withInput(String.join("\n", large, end(1), large, end(1)), "merge", "--json")
                        .out()
                        .getFirst())
                .contains("\"sum\":18446744073709551614");
    }

    @Test
    void aLineWithoutEndIsRefusedBeforeItFillsTheMemory() throws IOException {
        Path file = folder.resolve("long");
        try (Writer writer = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
            for (int i = 0; i < 17; i++) {
                writer.write(" ".repeat(1 << 20));
            }
        }
        assertThat(Run.of("merge", file.toString()).err())
                .containsExactly(
                        "bpf4j: " + file + ":1: is longer than 16777216 characters, so it is not an answer of bpf4j");
        assertThat(Run.of("merge", "/dev/zero").err().getFirst())
                .contains("/dev/zero:1: is longer than 16777216 characters");
    }

    @Test
    void withoutFilesStandardInputIsRead() {
        String input = String.join("\r\n", List.of(A, "", end(3)));
        assertThat(Run.withInput(input, "merge").out()).contains("3 events");
        assertThat(Run.withInput(input, "merge", "-").out()).contains("3 events");
        assertThat(Run.withInput("", "merge").err())
                .containsExactly("bpf4j: standard input: is empty; it has no answer");
    }
}
