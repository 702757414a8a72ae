package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.AskedQuestion.Part;
import java.util.List;
import org.junit.jupiter.api.Test;

class AskedQuestionTest {
    private static String json(AskedQuestion question) {
        return new EndRecord(0, 0).about(question).json(List.of());
    }

    @Test
    void isInTheEndOfAnAnswer() {
        assertThat(json(AskedQuestion.fromTo("a:b", "a:c")
                        .with(Part.WHERE, "arg0 ~ \"x\"")
                        .with(Part.PAIR, "arg1")))
                .endsWith("\"exact\":true,\"question\":{\"begin\":\"a:b\",\"end\":\"a:c\",\"pair\":\"arg1\","
                        + "\"where\":\"arg0 ~ \\\"x\\\"\"}}");
        assertThat(json(AskedQuestion.about(List.of("a:b")).with(Part.OF, "arg0")))
                .endsWith("\"question\":{\"probes\":[\"a:b\"],\"of\":\"arg0\"}}");
    }

    @Test
    void theOrderOfTheProbesSaysNothing() {
        assertThat(AskedQuestion.about(List.of("c:d", "a:b", "c:d")))
                .isEqualTo(AskedQuestion.about(List.of("a:b", "c:d")));
        assertThat(AskedQuestion.fromTo("a:b", "c:d")).isNotEqualTo(AskedQuestion.fromTo("c:d", "a:b"));
    }

    @Test
    void eachDifferenceIsNamed() {
        AskedQuestion one = AskedQuestion.about(List.of("a:b")).with(Part.STACKS, "user");
        assertThat(one.differenceTo(AskedQuestion.about(List.of("a:b", "c:d"))
                        .with(Part.STACKS, "user")
                        .with(Part.WHERE, "1\n")))
                .isEqualTo("its 'probes' is 'a:b', not 'a:b, c:d'; its 'where' is absent, not '1\\n'");
    }
}
