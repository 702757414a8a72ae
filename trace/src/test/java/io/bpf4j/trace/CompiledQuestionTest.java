package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
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
    void functionsNeedCookies() {
        Question question = Question.on(List.of())
                .on(FunctionProbe.entry(Path.of("/bin/true"), "main"))
                .withFeatures(Features.of(_ -> new Support.Absent("an older kernel")));
        assertThatThrownBy(question::load)
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("ask about functions: BPF cookies not supported (requires Linux >= 5.15); an older kernel");
    }
}
