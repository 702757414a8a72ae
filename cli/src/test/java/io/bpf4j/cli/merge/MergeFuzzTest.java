package io.bpf4j.cli.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.picture.StackPicture;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Any lines are answers or refused. The sum of answers, printed as JSON, is an answer whose sum is the same text. */
class MergeFuzzTest extends FuzzTarget {
    private static final String ROW = "{\"type\":\"row\",\"key\":{\"comm\":\"a\"},\"count\":3}\n";
    private static final String HISTOGRAM =
            "{\"type\":\"row\",\"key\":{},\"unit\":\"ns\",\"unsigned\":true,\"buckets\":"
                    + "[{\"from\":8,\"to\":9,\"count\":1}],\"count\":1,\"sum\":9,\"min\":9,\"max\":9}\n";
    private static final String LINEAR =
            "{\"type\":\"row\",\"key\":{},\"unsigned\":false,\"linear\":{\"from\":0,\"to\":40,"
                    + "\"step\":10},\"buckets\":[{\"from\":10,\"to\":19,\"count\":2}],\"count\":2,\"sum\":24,\"min\":11,\"max\":13}\n";
    private static final String STACK =
            "{\"type\":\"row\",\"key\":{\"pid\":1},\"frames\":[\"leaf\",\"main\"],\"count\":3,\"cut\":true}\n";

    private static String end(long events) {
        return "{\"type\":\"end\",\"events\":" + events + ",\"lost\":0,\"exact\":true}\n";
    }

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes(ROW + ROW.replace("\"a\"", "\"b\"") + end(6)),
                bytes(HISTOGRAM + end(1) + HISTOGRAM + end(1)),
                bytes(LINEAR + end(2)),
                bytes(STACK + STACK + end(6)),
                bytes(ROW + "{\"type\":\"interval\",\"time\":\"2026-01-02T03:04:05Z\",\"ns\":8,\"events\":3}\n" + ROW
                        + "{\"type\":\"end\",\"events\":3,\"lost\":0,\"intervals\":1,\"exact\":true}\n"),
                bytes(
                        "{\"type\":\"end\",\"events\":0,\"lost\":1,\"exact\":false,\"gaps\":[],\"remarks\":[{\"kind\":\"hint\","
                                + "\"subject\":\"s\",\"message\":\"m\"}]}\n"));
    }

    @Override
    protected List<String> words() {
        return List.of(
                ROW,
                HISTOGRAM,
                LINEAR,
                STACK,
                end(3),
                "\"count\":",
                "\"key\":{",
                "\"linear\":",
                "\"step\":1",
                "\"cut\":false",
                "9223372036854775807",
                "18446744073709551615",
                "true",
                "\\udcff",
                "1.5",
                "{\"from\":12,\"to\":13,\"count\":1}");
    }

    /** Each row of a histogram has the buckets between its first and its last, up to all of its scale. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(300).withBytes(8 << 20, 20_000);
    }

    @Override
    protected void read(byte[] input) throws IOException {
        String text = new String(input, StandardCharsets.UTF_8);
        MergedAnswer sum = new MergedAnswer(1 << 20);
        try {
            sum.addAll("fuzzed", new StringReader(text));
        } catch (CommandException e) {
            assertThat(e).hasMessageStartingWith("fuzzed:");
            return;
        }
        String printed = print(sum, true);
        assertThat(print(sum, false)).isNotNull();
        MergedAnswer again = new MergedAnswer(1 << 24);
        again.addAll("again", new StringReader(printed));
        // The file of a gap or remark is put before it each time.
        if (!printed.contains("\"message\"")) {
            assertThat(print(again, true)).isEqualTo(printed);
        }
        draw(sum);
    }

    private static void draw(MergedAnswer sum) throws IOException {
        AnswerPage page = sum.page("bpf4j merge");
        StringBuilder out = new StringBuilder();
        if (sum.isOfStacks()) {
            StackPicture picture = sum.picture();
            picture.html(page, out);
            picture.svg(page, out);
        } else {
            page.html(out);
            page.svg(out);
        }
        assertThat(out).contains("</html>", "</svg>");
    }

    private static String print(MergedAnswer answer, boolean json) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, new StringWriter(), Reader.nullReader());
        answer.print(console, json, Paint.NONE);
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    /** A short line may stand for a thousand buckets. */
    @Test
    void bucketsThatALineLeavesOutNeedRoom() {
        String row = LINEAR.replace("\"to\":40,\"step\":10", "\"to\":1000,\"step\":1")
                .replace(
                        "{\"from\":10,\"to\":19,\"count\":2}",
                        "{\"from\":1,\"to\":1,\"count\":1},{\"from\":999,\"to\":999,\"count\":1}")
                .replace("\"sum\":24,\"min\":11,\"max\":13", "\"sum\":1000,\"min\":1,\"max\":999");
        assertThatNoException()
                .isThrownBy(() -> new MergedAnswer(1 << 15).addAll("one", new StringReader(row + end(2))));
        assertThatThrownBy(() -> new MergedAnswer(1 << 14).addAll("one", new StringReader(row + end(2))))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("makes the answers exceed 16384 characters");
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("rows", count -> {
                    StringBuilder text = new StringBuilder();
                    for (int i = 0; i < count; i++) {
                        text.append(ROW.replace("\"a\"", "\"" + (100_000 + i) + "\""));
                    }
                    return bytes(text + end(3L * count));
                }),
                new Growth("answers", count -> bytes((ROW + end(3)).repeat(count))),
                new Growth("stacks with the same names", count -> bytes(STACK.repeat(count) + end(3L * count))),
                new Growth(
                        "frames",
                        count -> bytes(STACK.replace("\"main\"", "\"main\"" + ",\"f\"".repeat(count)) + end(3))));
    }
}
