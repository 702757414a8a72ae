package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnknownFieldSet;
import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningAgent;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent's native histograms, which only protobuf has. They are read by the numbers of the fields in
 * io/prometheus/client/metrics.proto of prometheus/client_model, and not by the classes that have written them.
 */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliExportProtobufTest {
    private static final int FAMILY_NAME = 1;
    private static final int FAMILY_METRIC = 4;
    private static final int METRIC_HISTOGRAM = 7;
    private static final int SAMPLE_COUNT = 1;
    private static final int BUCKET = 3;
    private static final int SCHEMA = 5;
    private static final int ZERO_COUNT = 7;
    private static final int NEGATIVE_SPAN = 9;
    private static final int POSITIVE_SPAN = 12;
    private static final int POSITIVE_DELTA = 13;
    private static final int SPAN_OFFSET = 1;
    private static final int SPAN_LENGTH = 2;

    private static final int EVENTS = 400;

    @TempDir
    private static Path folder;

    private static UnknownFieldSet message(ByteString bytes) throws IOException {
        return UnknownFieldSet.parseFrom(bytes);
    }

    private static UnknownFieldSet family(byte[] exposition, String name) throws IOException {
        InputStream in = new ByteArrayInputStream(exposition);
        for (int first = in.read(); first >= 0; first = in.read()) {
            byte[] bytes = in.readNBytes(CodedInputStream.readRawVarint32(first, in));
            UnknownFieldSet family = UnknownFieldSet.parseFrom(bytes);
            if (family.getField(FAMILY_NAME)
                    .getLengthDelimitedList()
                    .getFirst()
                    .toStringUtf8()
                    .equals(name)) {
                return family;
            }
        }
        throw new AssertionError("no metric " + name);
    }

    /** The counts of the native buckets, by their indexes. */
    private static SortedMap<Integer, Long> positive(UnknownFieldSet histogram) throws IOException {
        CodedInputStream deltas =
                histogram.getField(POSITIVE_DELTA).getLengthDelimitedList().isEmpty()
                        ? CodedInputStream.newInstance(new byte[0])
                        : histogram
                                .getField(POSITIVE_DELTA)
                                .getLengthDelimitedList()
                                .getFirst()
                                .newCodedInput();
        LongStream.Builder all = LongStream.builder();
        while (!deltas.isAtEnd()) {
            all.add(deltas.readSInt64());
        }
        // A writer may also write each number by itself.
        histogram
                .getField(POSITIVE_DELTA)
                .getVarintList()
                .forEach(each -> all.add(CodedInputStream.decodeZigZag64(each)));
        long[] numbers = all.build().toArray();
        SortedMap<Integer, Long> counts = new TreeMap<>();
        int next = 0;
        int index = 0;
        long count = 0;
        for (ByteString bytes : histogram.getField(POSITIVE_SPAN).getLengthDelimitedList()) {
            UnknownFieldSet span = message(bytes);
            for (long offset : span.getField(SPAN_OFFSET).getVarintList()) {
                index += CodedInputStream.decodeZigZag32((int) offset);
            }
            long length = span.getField(SPAN_LENGTH).getVarintList().getFirst();
            for (int i = 0; i < length; i++) {
                count += numbers[next++];
                counts.put(index++, count);
            }
        }
        assertThat(next).isEqualTo(numbers.length);
        return counts;
    }

    /** The sizes are 1, 2, 4 … 2^39, ten times each. */
    @Test
    void aNativeHistogramHasTheValuesOfTheProgram() throws IOException, InterruptedException {
        AskedProgram asked = AskedProgram.in(folder);
        byte[] exposition;
        try (RunningAgent agent = new RunningAgent(asked.config("sizes hist FILE asked:value --of arg2"))) {
            asked.run("values", String.valueOf(EVENTS));
            HttpResponse<byte[]> response = agent.scrape(
                    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited");
            assertThat(response.statusCode()).isEqualTo(200);
            exposition = response.body();
        }
        UnknownFieldSet metric = message(family(exposition, "sizes")
                .getField(FAMILY_METRIC)
                .getLengthDelimitedList()
                .getFirst());
        UnknownFieldSet histogram = message(
                metric.getField(METRIC_HISTOGRAM).getLengthDelimitedList().getFirst());
        assertThat(histogram.getField(SAMPLE_COUNT).getVarintList()).containsExactly((long) EVENTS);
        assertThat(histogram.getField(BUCKET).getLengthDelimitedList())
                .as("classic buckets")
                .isNotEmpty();
        assertThat(CodedInputStream.decodeZigZag32(
                        histogram.getField(SCHEMA).getVarintList().getFirst().intValue()))
                .isEqualTo(2);
        assertThat(histogram.getField(ZERO_COUNT).getVarintList()).allMatch(count -> count == 0);
        assertThat(histogram.getField(NEGATIVE_SPAN).getLengthDelimitedList()).isEmpty();
        SortedMap<Integer, Long> counts = positive(histogram);
        counts.values().removeIf(count -> count == 0);
        assertThat(counts)
                .hasSize(40)
                .allSatisfy((_, count) -> assertThat(count).isEqualTo(EVENTS / 40));
        int power = 0;
        for (int index : counts.keySet()) {
            // Of schema 2: four buckets for each power of two, numbered by their upper bounds.
            assertThat(Math.pow(2, index / 4.0) / Math.pow(2, power)).isBetween(1.0, 1.49);
            power++;
        }
    }
}
