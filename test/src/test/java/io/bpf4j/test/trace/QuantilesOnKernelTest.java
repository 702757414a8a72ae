package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The buckets that the kernel counts in, and the quantiles they tell, beside the values that the program printed. */
@Requires({BPF, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class QuantilesOnKernelTest {
    private static final BigInteger FOUR = BigInteger.valueOf(4);
    private static final BigInteger FIVE = BigInteger.valueOf(5);

    private static Path program;

    @BeforeAll
    static void compile() {
        program = CPrograms.compile("spread", "-O2");
    }

    private static List<Long> run(String... arguments) throws IOException, InterruptedException {
        return Commands.check(List.of(program.toString(), arguments[0], arguments[1]))
                .lines()
                .map(Long::parseUnsignedLong)
                .toList();
    }

    private static Distribution distribution(Answer answer) {
        assertThat(answer.gaps()).isEmpty();
        return answer.rows().getFirst().distribution().orElseThrow();
    }

    /** Each bucket and each row has as many events as the program printed values in its range, and no value is elsewhere. */
    private static void assertCounts(Distribution distribution, List<Long> truth, Comparator<Long> order) {
        assertThat(distribution.count()).isEqualTo(truth.size());
        for (List<Bucket> ranges : List.of(distribution.buckets(), distribution.rows())) {
            assertThat(ranges.stream().mapToLong(Bucket::count).sum()).isEqualTo(truth.size());
            assertThat(ranges)
                    .allSatisfy(range -> assertThat(truth.stream()
                                    .filter(value -> order.compare(value, range.from()) >= 0
                                            && order.compare(value, range.to()) <= 0)
                                    .count())
                            .isEqualTo(range.count()));
        }
        assertThat(distribution.min()).isEqualTo(truth.stream().min(order).orElseThrow());
        assertThat(distribution.max()).isEqualTo(truth.stream().max(order).orElseThrow());
    }

    private static BigInteger number(long value, boolean unsigned) {
        return unsigned ? new BigInteger(Long.toUnsignedString(value)) : BigInteger.valueOf(value);
    }

    private static void assertQuantiles(Distribution distribution, List<Long> truth, Comparator<Long> order) {
        List<Long> sorted = truth.stream().sorted(order).toList();
        for (int thousandths = 1; thousandths <= 1000; thousandths++) {
            int rank = Math.ceilDiv(thousandths * sorted.size(), 1000);
            BigInteger quantile = number(sorted.get(rank - 1), distribution.unsigned());
            BigInteger bound = number(distribution.quantile(thousandths / 1000.0), distribution.unsigned());
            assertThat(bound).as("%d of 1000", thousandths).isGreaterThanOrEqualTo(quantile);
            if (quantile.signum() >= 0) {
                assertThat(bound.multiply(FOUR))
                        .as("%d of 1000", thousandths)
                        .isLessThanOrEqualTo(quantile.multiply(FIVE));
            } else {
                assertThat(bound).as("%d of 1000", thousandths).isNegative();
            }
            if (quantile.signum() >= 0 && quantile.bitLength() <= 3) {
                assertThat(bound).isEqualTo(quantile);
            }
        }
    }

    @Test
    void unsignedValuesOfAllSizes() throws IOException, InterruptedException {
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("spread:value"))
                .histogram("arg0")
                .open()) {
            List<Long> truth = run("values", "20000");
            Distribution distribution = distribution(answer);
            assertThat(distribution.unsigned()).isTrue();
            assertThat(distribution.buckets())
                    .as("0 to 7, and four for each power of two from 8 on")
                    .hasSize(8 + 4 * 61)
                    .startsWith(new Bucket(
                            0,
                            0,
                            1
                                    + truth.stream()
                                            .skip(193)
                                            .filter(value -> value == 0)
                                            .count()))
                    .last()
                    .extracting(Bucket::from, Bucket::to)
                    .containsExactly(7L << 61, -1L);
            assertThat(distribution.rows()).as("0, and each power of two").hasSize(65);
            assertCounts(distribution, truth, Long::compareUnsigned);
            assertQuantiles(distribution, truth, Long::compareUnsigned);
        }
    }

    @Test
    void signedValuesOfAllSizes() throws IOException, InterruptedException {
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("spread:value"))
                .histogram("arg1")
                .open()) {
            List<Long> truth = run("values", "20000");
            Distribution distribution = distribution(answer);
            assertThat(distribution.unsigned()).isFalse();
            assertThat(distribution.buckets().getFirst())
                    .isEqualTo(new Bucket(
                            Long.MIN_VALUE,
                            -1,
                            truth.stream().filter(value -> value < 0).count()));
            assertThat(distribution.buckets().getLast().to()).isEqualTo(Long.MAX_VALUE);
            assertCounts(distribution, truth, Long::compare);
            assertQuantiles(distribution, truth, Long::compare);
        }
    }

    @Test
    void linearBucketsAreTheRows() throws IOException, InterruptedException {
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("spread:value"))
                .histogram("arg1")
                .linear(-8, 32, 4)
                .open()) {
            List<Long> truth = run("values", "2000");
            Distribution distribution = distribution(answer);
            assertThat(distribution.linear()).isTrue();
            assertThat(distribution.rows()).isEqualTo(distribution.buckets()).hasSize(12);
            assertCounts(distribution, truth, Long::compare);
        }
    }
}
