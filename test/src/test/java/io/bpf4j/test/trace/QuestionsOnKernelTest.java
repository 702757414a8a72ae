package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Questions by the library; those by the command are in CliQuestionsTest. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class QuestionsOnKernelTest {
    private static final String[] DEEP = {"-O1", "-fno-optimize-sibling-calls"};

    /** As on kernels before 5.12, whose verifier refuses a program that has the instruction anywhere. */
    @Test
    void extremesAreFoundWithoutAtomicExchange() throws IOException, InterruptedException {
        Path program = CPrograms.asked();
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("asked:value"))
                .histogram("arg3")
                .withFeatures(Features.ofRunningKernel().without(Feature.ATOMIC_EXCHANGE))
                .open()) {
            Commands.check(List.of(program.toString(), "values", "100"));
            assertThat(answer.rows())
                    .singleElement()
                    .extracting(row -> row.distribution().orElseThrow())
                    .extracting(Distribution::count, Distribution::min, Distribution::max)
                    .containsExactly(100L, -50L, 49L);
        }
    }

    @Test
    void aFloatingPointArgumentIsAKeyAndNothingElse() throws IOException, InterruptedException {
        Path program = CPrograms.compile("floats", "-O2");
        UsdtScan floats = UsdtScan.ofFile(program).matching("asked:floats");
        try (Answer answer =
                Question.on(floats).where("arg2 != 3").by("arg0", "arg1").open()) {
            Commands.check(List.of(program.toString()));
            assertThat(answer.rows().stream().map(Answer.Row::key))
                    .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 9)
                            .filter(i -> i != 3)
                            .mapToObj(i -> Map.<String, Object>of(
                                    "arg0", 1.5 * i, "arg1", Double.valueOf(Float.toString(0.1f * i))))
                            .toList());
        }
        assertThatThrownBy(() -> Question.on(floats).where("arg0 > 3").load())
                .hasMessageStartingWith("arg0 is a floating-point number; ");
        assertThatThrownBy(() -> Question.on(floats).histogram("arg1").load())
                .hasMessageStartingWith("arg1 is a floating-point number; ");
    }

    private static Path version(String type) {
        return CPrograms.compile("versions", "-O2", "-DTYPE=" + type);
    }

    /** The functions of the question were compiled for the arguments of the files that were known. */
    @Test
    void aLaterVersionWithAnArgumentOfAnotherTypeIsRefused() throws IOException, InterruptedException {
        List<UsdtProbe> wide = UsdtScan.ofFile(version("unsigned long")).probes();
        List<UsdtProbe> signed = UsdtScan.ofFile(version("long")).probes();
        List<UsdtProbe> floating = UsdtScan.ofFile(version("double")).probes();
        try (Answer answer = Question.on(wide).by("arg0", "arg1").open()) {
            assertThatThrownBy(() -> answer.attach(floating, OptionalInt.empty()))
                    .isInstanceOf(UsdtException.class)
                    .hasMessage("attach late:probe in " + version("double")
                            + ": arg0 is a floating-point number of 8 bytes in this file, but the question"
                            + " reads it as a whole number, because it was compiled before the file was"
                            + " known; name the file when the question starts");
            assertThatThrownBy(() -> answer.attach(signed, OptionalInt.empty()))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining(
                            ": arg0 is a signed number in this file, but the question reads it as an unsigned number");
            Commands.check(List.of(
                    version("double").toString(), version("unsigned long").toString()));
            assertThat(answer.rows().stream().map(Answer.Row::key))
                    .containsExactly(
                            Map.of("arg0", BigInteger.TWO.pow(64).subtract(BigInteger.valueOf(7)), "arg1", 1L));
        }
        try (Answer answer = Question.on(floating).by("arg0").open()) {
            assertThatThrownBy(() -> answer.attach(signed, OptionalInt.empty()))
                    .hasMessageContaining(
                            ": arg0 is a whole number in this file, but the question reads it as a floating-point"
                                    + " number of 8 bytes");
        }
        try (Answer answer = Question.on(List.of()).by("arg0").load()) {
            assertThatThrownBy(() -> answer.attach(floating, OptionalInt.empty()))
                    .as("no file was known")
                    .hasMessageContaining(": arg0 is a floating-point number of 8 bytes in this file");
            UsdtLink _ = answer.attach(signed, OptionalInt.empty());
            Commands.check(List.of(version("long").toString()));
            assertThat(answer.rows().stream().map(Answer.Row::key)).containsExactly(Map.of("arg0", -7L));
        }
        try (Answer answer = Question.on(wide).where("arg1 == 1").by("arg1").open()) {
            UsdtLink _ = answer.attach(floating, OptionalInt.empty());
            Commands.check(List.of(
                    version("double").toString(), version("unsigned long").toString()));
            assertThat(answer.rows())
                    .as("it does not read the argument")
                    .singleElement()
                    .extracting(Answer.Row::count)
                    .isEqualTo(2L);
        }
    }

    /** Compiled functions know names by numbers, and a probe that nobody expected has none. */
    @Test
    void theNamesOfLaterProbesAreComparedRightOrRefused() throws IOException, InterruptedException {
        List<UsdtProbe> begin =
                UsdtScan.ofFile(CPrograms.asked()).matching("asked:begin").probes();
        List<UsdtProbe> end =
                UsdtScan.ofFile(CPrograms.asked()).matching("asked:end").probes();
        for (String filter : List.of("probe == \"asked:begin\"", "probe ~ \"*:b*\"", "!(probe != \"asked:begin\")")) {
            assertThat(probesOf(begin, end, filter)).as(filter).containsExactly("asked:begin");
        }
        assertThat(probesOf(begin, end, "probe == \"asked:end\"")).containsExactly("asked:end");
        assertThat(probesOf(List.of(), end, "probe == \"asked:end\"")).containsExactly("asked:end");
        assertThat(probesOf(begin, end, "provider != \"x\"")).containsExactlyInAnyOrder("asked:begin", "asked:end");
        for (String filter : List.of("provider == \"asked\"", "probe ~ \"*:e*\" || nsecs > 0")) {
            assertThatThrownBy(() -> probesOf(begin, end, filter))
                    .as(filter)
                    .isInstanceOf(UsdtException.class)
                    .hasMessageMatching("attach asked:end in \\S+: the question compares names of probes, .*");
        }
    }

    /** A key has the provider as the number of a probe, and the numbers of these probes differ. */
    @Test
    void laterProbesOfOneProviderAreOneRow() throws IOException, InterruptedException {
        List<UsdtProbe> later =
                UsdtScan.ofFile(CPrograms.asked()).matching("asked:*").probes();
        Question question = Question.on(List.of()).expecting(List.of(ProbePattern.parse("asked:*")));
        try (Answer counted = question.by("provider").load();
                Answer measured = question.by("provider").histogram("tid").load()) {
            for (Answer answer : List.of(counted, measured)) {
                UsdtLink _ = answer.attach(later, OptionalInt.empty());
            }
            Commands.check(List.of(CPrograms.asked().toString(), "pairs", "1", "0"));
            for (Answer answer : List.of(counted, measured)) {
                assertThat(answer.rows()).singleElement().satisfies(row -> {
                    assertThat(row.key()).isEqualTo(Map.of("provider", "asked"));
                    assertThat(row.count()).isGreaterThan(1);
                });
            }
        }
    }

    @Test
    void aNameOfAnotherProbesArgumentIsNotReadOfALaterOne() throws IOException, InterruptedException {
        Question question = Question.on(UsdtScan.ofFile(CPrograms.asked()).matching("asked:begin"))
                .expecting(List.of(ProbePattern.parse("asked:*")))
                .withCatalog(Catalog.parse("test", "provider asked\n\nprobe begin(id: s32)\n  Begins.\n"))
                .by("id");
        List<UsdtProbe> end =
                UsdtScan.ofFile(CPrograms.asked()).matching("asked:end").probes();
        try (Answer answer = question.load()) {
            assertThatThrownBy(() -> answer.attach(end, OptionalInt.empty()))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining(": the question reads id, but only other probes are known to have it;");
        }
        try (Answer answer = question.where("probe == \"asked:begin\"").open()) {
            UsdtLink _ = answer.attach(end, OptionalInt.empty());
            Commands.check(List.of(CPrograms.asked().toString(), "pairs", "2", "0"));
            assertThat(answer.rows().stream().map(Answer.Row::key))
                    .containsExactlyInAnyOrder(Map.of("id", 0L), Map.of("id", 1L), Map.of("id", 2L));
        }
    }

    @Test
    void whatReturnsHaveIsNotReadOfLaterProbes() throws IOException {
        FunctionProbe top = FunctionProbe.exit(CPrograms.asked(), "top");
        Question question = Question.on(List.of()).alsoOn(top).expecting(List.of(ProbePattern.parse("asked:*")));
        assertThatThrownBy(() -> question.where("retval > 2").load())
                .hasMessageStartingWith(
                        "probes that appear later have no 'retval'; guard it, as in probe == \"ur:top\" && …");
        try (Answer answer = question.where("probe == \"ur:top\" && retval > 2").load()) {
            FunctionProbe entry = FunctionProbe.entry(CPrograms.asked(), "top");
            assertThatThrownBy(() -> answer.attachFunctions(List.of(top, entry), OptionalInt.empty(), _ -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("the question is not about ");
        }
    }

    /** The probes whose events pass a filter that was compiled when only the first of them were known. */
    private static List<Object> probesOf(List<UsdtProbe> known, List<UsdtProbe> later, String filter)
            throws IOException, InterruptedException {
        try (Answer answer = Question.on(known)
                .expecting(List.of(ProbePattern.parse("asked:*")))
                .where(filter)
                .by("probe")
                .load()) {
            for (List<UsdtProbe> probes : List.of(known, later)) {
                if (!probes.isEmpty()) {
                    UsdtLink _ = answer.attach(probes, OptionalInt.empty());
                }
            }
            Commands.check(List.of(CPrograms.asked().toString(), "pairs", "1", "0"));
            return answer.rows().stream().map(row -> row.key().get("probe")).toList();
        }
    }

    /** The innermost of nested calls sleeps 20 ms, so each of them takes as long. */
    @Test
    void eachReturnFindsItsOwnCall() throws IOException, InterruptedException {
        Path program = CPrograms.compile("deep", DEEP);
        FunctionProbe[] both = {FunctionProbe.entry(program, "deep"), FunctionProbe.exit(program, "deep")};
        try (Answer answer =
                Question.on(List.of()).alsoOn(both).latency("u:deep", "ur:deep").open()) {
            Commands.check(List.of(program.toString(), "5", "100"));
            Distribution times = answer.rows().getFirst().distribution().orElseThrow();
            assertThat(times.count()).isEqualTo(5 * 64);
            assertThat(times.min()).isGreaterThan(20_000_000);
            assertThat(answer.gaps()).isEqualTo(Map.of(Gap.RETURNS_DROPPED, 5L * (101 - 64)));
            assertThat(answer.isExact()).isFalse();
        }
    }

    @Test
    void returnsThatTheKernelDropsAreCounted() throws IOException, InterruptedException {
        Path program = CPrograms.compile("deep", DEEP);
        try (Answer answer = Question.on(List.of())
                .alsoOn(FunctionProbe.exit(program, "deep"), FunctionProbe.exit(program, "jump"))
                .open()) {
            Commands.check(List.of(program.toString(), "3", "63"));
            Commands.check(List.of(program.toString(), "jump", "100"));
            assertThat(answer.rows().getFirst().count()).isEqualTo(3 * 64 + 2);
            assertThat(answer.gaps()).doesNotContainKey(Gap.RETURNS_DROPPED);
            Commands.check(List.of(program.toString(), "3", "64"));
            assertThat(answer.rows().getFirst().count()).isEqualTo(2 * 3 * 64 + 2);
            assertThat(answer.gaps()).containsEntry(Gap.RETURNS_DROPPED, 3L);
        }
    }

    /** A map of the kernel's type for stacks with room for 16,384 loses about 2,500 of these. */
    @Test
    void noStackIsLostThatThereIsRoomFor() throws IOException, InterruptedException {
        Path program = CPrograms.compile("branches", "-O1", CPrograms.WALKABLE, "-fno-optimize-sibling-calls");
        try (Answer answer = Question.on(List.of())
                .alsoOn(FunctionProbe.entry(program, "leaf"))
                .byUserStack()
                .open()) {
            Commands.check(List.of(program.toString(), "10000"));
            assertThat(answer.rows()).hasSize(10_000).allSatisfy(row -> {
                assertThat(row.count()).isEqualTo(1);
                assertThat(row.userStack().orElseThrow()).hasSizeGreaterThan(16);
            });
            assertThat(answer.gaps()).doesNotContainKey(Gap.STACKS_LOST);
        }
    }
}
