package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a kernel lacks is said before anything is loaded. The rest is tested by CliQuestionsTest. */
class CompiledQuestionTest {
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
        assertThatThrownBy(Question.on(List.of()).on(main).latency("u:main", "ur:main")::open)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a latency from u:main to ur:main: the question has no probe ur:main");
    }

    @Test
    void functionsNeedCookies() {
        Question question = Question.on(List.of())
                .on(FunctionProbe.entry(Path.of("/bin/true"), "main"))
                .withFeatures(Features.of(_ -> new Support.Absent("an older kernel")));
        assertThatThrownBy(question::load)
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("ask about functions: BPF cookies not supported (requires Linux >= 5.15); an older kernel");
    }
}
