package io.bpf4j.cli.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.io.IOException;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnswerPageTest {
    private static final String HOSTILE = "</title></text><script>alert('\"&\u0000\u001b\u202e\ud800]]>\udcff";

    private static Answer.Row row(Object key, long count, Bucket... buckets) {
        Distribution distribution =
                buckets.length == 0 ? null : new Distribution(true, false, count, 0, 1, 2, List.of(buckets));
        return new Answer.Row(
                Map.of("key" + HOSTILE, key),
                count,
                Optional.ofNullable(distribution),
                Optional.empty(),
                Optional.empty());
    }

    private static AnswerPage page(History history, Answer.Row... rows) {
        return new AnswerPage(
                "title " + HOSTILE,
                List.of("bpf4j " + HOSTILE, HOSTILE),
                List.of("remark " + HOSTILE + " word".repeat(60) + " last"),
                List.of(rows),
                HOSTILE,
                history);
    }

    private static String html(AnswerPage page) throws IOException {
        StringBuilder out = new StringBuilder();
        page.html(out);
        return out.toString();
    }

    private static String svg(AnswerPage page) throws IOException {
        StringBuilder out = new StringBuilder();
        page.svg(out);
        return out.toString();
    }

    @Test
    void namesMeanNothing() throws IOException {
        History history = new History();
        for (int i = 1; i < 4; i++) {
            history.add(LocalTime.NOON.plusSeconds(i), List.of(row(HOSTILE, i), row("b", 2L * i)));
        }
        AnswerPage counts = page(history, row(HOSTILE, 3), row("b", 6));
        AnswerPage values = page(history, row(HOSTILE, 3, new Bucket(1, 1, 3)), row("b", 4, new Bucket(4, 7, 4)));
        for (AnswerPage page : List.of(counts, values, page(history), page(new History(), row("b", 1)))) {
            assertThat(html(page)).doesNotContain("<script", "\u0000", "\u001b", "\u202e", "\ud800");
            assertThat(html(page))
                    .contains("&lt;script&gt;alert(&#39;&quot;&amp;\\x00\\x1b\\u{202e}\\u{d800}]]&gt;\\xff");
            assertThat(svg(page)).doesNotContain("<script", "\u0000", "\u001b", "\u202e", "\ud800", "&\"", "('");
        }
        assertThat(html(counts)).contains("Events over time");
    }

    @Test
    void aRemarkIsInThePageAndWholeInThePicture() throws IOException {
        AnswerPage page = page(new History(), row("b", 1));
        assertThat(html(page)).containsPattern("<p class=\"remark\">remark .* last</p>");
        assertThat(svg(page)).contains(">remark ").contains("word last</text>");
    }

    @Test
    void aPageSaysWhatItLeavesOut() throws IOException {
        List<Answer.Row> rows = new ArrayList<>();
        for (long i = 0; i < 1500; i++) {
            rows.add(row(i, i + 1));
        }
        String page = html(page(new History(), rows.toArray(Answer.Row[]::new)));
        assertThat(page).contains("and 500 more keys").contains("<td class=\"number\">1500</td>");
    }

    @Test
    void aHistoryIsBounded() {
        History history = new History();
        List<Answer.Row> rows = new ArrayList<>();
        for (int i = 1; i <= 10_000; i++) {
            rows.clear();
            for (long key = 0; key < 60; key++) {
                rows.add(row(key, i * (key + 1)));
            }
            history.add(LocalTime.MIDNIGHT.plusSeconds(i), rows);
        }
        List<History.Interval> intervals = history.intervals();
        assertThat(intervals)
                .hasSizeBetween(50, 120)
                .allSatisfy(interval -> assertThat(interval.changes()).hasSize(50));
        assertThat(intervals.getLast().end()).isEqualTo(LocalTime.MIDNIGHT.plusSeconds(10_000));
        assertThat(intervals.stream()
                        .mapToLong(i -> i.changes().getFirst().count())
                        .sum())
                .as("no event is lost")
                .isEqualTo(600_000);
    }
}
