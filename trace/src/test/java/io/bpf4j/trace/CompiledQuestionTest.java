package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.internal.expression.Field;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A question is compiled without a kernel, and what a kernel lacks is said before anything is loaded. What the program
 * does is tested by QuestionsOnKernelTest.
 */
class CompiledQuestionTest {
    private static final UsdtBinary BINARY = UsdtBinary.of(Path.of("/x"), Machine.X86_64, new FileIdentity(1, 2, 3, 4));
    private static final UsdtArg WIDE = UsdtArg.unsigned(8, new UsdtArg.Register("rax"));
    private static final UsdtArg SIGNED = UsdtArg.signed(8, new UsdtArg.Register("rax"));

    private static UsdtProbe probe(String name, UsdtArg... args) {
        return UsdtProbe.of(BINARY, "db", name, List.of(UsdtSite.at(1, 1).withArguments("", List.of(args), Map.of())));
    }

    /** A compiled question, and a check of a probe that appears after that. */
    private record Compiled(CompiledQuestion question, ProbeNumbers numbers) {
        static Compiled of(Question question) {
            ProbeNumbers numbers = new ProbeNumbers(question);
            return new Compiled(CompiledQuestion.of(question, numbers), numbers);
        }

        void check(UsdtProbe later) {
            question.check(later, numbers);
        }
    }

    @Test
    void onlyWhatTheExpressionsReadIsWanted() {
        CompiledQuestion question = Compiled.of(Question.on(List.of(probe("query", WIDE, SIGNED)))
                        .where("arg1 > 3")
                        .by("pid", "str(arg0, 10)")
                        .histogram("cpu"))
                .question();
        assertThat(question.functions()).containsOnlyKeys("question_where", "question_keys", "question_value");
        assertThat(question.arguments()).isEqualTo(1 | 1 << 1);
        assertThat(question.fields()).isEqualTo(Field.THREAD.bit() | Field.CPU.bit());
        assertThat(question.key().bytes()).as("a number, and text in words").isEqualTo(8 + 16);
        assertThat(question.valueSigned()).isTrue();
    }

    @Test
    void stacksAreTheEndOfAKeyThatHasTheirProcess() {
        CompiledQuestion question = Compiled.of(Question.on(List.of(probe("query", WIDE)))
                        .by("arg0")
                        .byUserStack()
                        .byKernelStack())
                .question();
        assertThat(question.key().bytes()).isEqualTo(4 * Long.BYTES);
        assertThat(question.key().userStackAt()).isEqualTo(2 * Long.BYTES);
        assertThat(question.key().kernelStackAt()).isEqualTo(3 * Long.BYTES);
    }

    @Test
    void aFilterLeavesOutProbesOfWhichItIsNeverTrue() {
        List<UsdtProbe> both = List.of(probe("begin", WIDE), probe("end"));
        CompiledQuestion question = Compiled.of(
                        Question.on(both).where("probe == \"db:begin\"").by("arg0"))
                .question();
        assertThat(question.takes("db:begin")).isTrue();
        assertThat(question.takes("db:end")).as("so it needs no arg0").isFalse();
        assertThatThrownBy(() -> Compiled.of(Question.on(both).where("probe == \"db:other\"")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the filter is never true of any of 2 probes, such as db:begin: ");
    }

    @Test
    void aLaterVersionThatTheFunctionsWouldReadWrongIsRefused() {
        Compiled by =
                Compiled.of(Question.on(List.of(probe("query", WIDE, SIGNED))).by("arg0"));
        by.check(probe("query", WIDE, WIDE.withFloat()));
        assertThatThrownBy(() -> by.check(probe("query", SIGNED, SIGNED)))
                .isInstanceOf(UsdtException.class)
                .hasMessageStartingWith("attach db:query in /x: arg0 is a signed number in this file, but the question"
                        + " reads it as an unsigned number, ");
        assertThatThrownBy(() -> by.check(probe("query", WIDE.withFloat(), SIGNED)))
                .isInstanceOf(UsdtException.class)
                .hasMessageStartingWith(
                        "attach db:query in /x: arg0 is a floating-point number of 8 bytes in this file");
        assertThatThrownBy(() -> by.check(probe("other", WIDE, SIGNED)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the question is not about db:other");
    }

    @Test
    void aLaterProbeIsRefusedIfItsNameOrAnotherProbesArgumentIsAskedFor() {
        Question open = Question.on(List.of(probe("begin", WIDE)))
                .withCatalog(Catalog.parse("test", "provider db\n\nprobe begin(id: u64)\n  Begins.\n"))
                .expecting(List.of(ProbePattern.parse("db:*")));
        Compiled.of(open.by("arg0")).check(probe("end", SIGNED));
        Compiled.of(open.where("probe == \"db:begin\"").by("id")).check(probe("end", WIDE.withFloat()));
        Compiled.of(open.where("probe == \"db:end\"")).check(probe("end", WIDE));
        assertThatThrownBy(() -> Compiled.of(open.by("id")).check(probe("end", WIDE)))
                .isInstanceOf(UsdtException.class)
                .hasMessageContaining(": the question reads id, but only other probes are known to have it; ");
        assertThatThrownBy(() -> Compiled.of(open.where("probe ~ \"db:e*\"")).check(probe("end", WIDE)))
                .isInstanceOf(UsdtException.class)
                .hasMessageContaining(": the question compares names of probes, ");
        assertThatThrownBy(() -> Compiled.of(open.by("arg0")).check(probe("end", WIDE.withFloat())))
                .isInstanceOf(UsdtException.class)
                .hasMessageContaining(": arg0 is a floating-point number of 8 bytes in this file");
    }

    @Test
    void keysForWhichThereIsNoMemoryAreRefused() {
        Question question = Question.on(List.of()).histogram("pid").by("tid").withMaxKeys(Integer.MAX_VALUE);
        assertThatThrownBy(question::load)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("room for 2147483647 keys takes ")
                .hasMessageContaining(" bytes for each; a question may take 1/4 of ");
    }

    @Test
    void aQuestionHasOneKind() {
        for (Question mixed : List.of(
                Question.on(List.of()).histogram("pid").show("tid"),
                Question.on(List.of()).show("tid").histogram("pid"),
                Question.on(List.of()).histogram("pid").latency("a", "b"),
                Question.on(List.of()).latency("a", "b").histogram("pid"))) {
            assertThatThrownBy(mixed::load)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("a question has one kind: ");
        }
    }

    @Test
    void aQuestionIsAskedOfSomething() throws IOException {
        assertThatThrownBy(Question.on(List.of())::open)
                .isInstanceOf(UsdtException.class)
                .hasMessage("ask a question: no probes given");
        UsdtScan none = UsdtScan.ofFile(
                        ProcessHandle.current().info().command().map(Path::of).orElseThrow())
                .matching("no:such");
        assertThatThrownBy(Question.on(none)::open)
                .isInstanceOf(UsdtException.class)
                .hasMessage("ask a question: " + none.whyNone());
        FunctionProbe main = FunctionProbe.entry(Path.of("/bin/true"), "main");
        assertThatThrownBy(Question.on(List.of()).alsoOn(main).latency("u:main", "ur:main")::open)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a latency from u:main to ur:main: the question has no probe ur:main");
    }

    @Test
    void functionsNeedCookies() {
        Question question = Question.on(List.of())
                .alsoOn(FunctionProbe.entry(Path.of("/bin/true"), "main"))
                .withFeatures(Features.of(_ -> new Support.Absent("an older kernel")));
        assertThatThrownBy(question::load)
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("ask about functions: BPF cookies not supported (requires Linux >= 5.15); an older kernel");
    }
}
