package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Program.TextStream;
import io.bpf4j.loader.TestRun;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What programs print. */
@Requires({Requirement.BPF, Requirement.STREAMS})
@ExtendWith(LeakCheck.class)
class ProgramStreamsTest {
    @Test
    void aStreamWithoutTextIsEmpty() {
        try (BpfObject object = load()) {
            for (TextStream stream : TextStream.values()) {
                assertThat(object.program("say").readStream(stream)).isEmpty();
            }
        }
    }

    @Test
    @Requires(Requirement.STREAM_MEMORY)
    void eachStreamHasItsText() {
        try (BpfObject object = load()) {
            Program say = object.program("say");
            assertThat(say.readStream(TextStream.OUT)).isEmpty();
            say(say);
            assertThat(say.readStream(TextStream.OUT)).isEqualTo("number 1 of streams\n");
            assertThat(say.readStream(TextStream.OUT)).as("taken out").isEmpty();
            assertThat(say.readStream(TextStream.ERR)).isEqualTo("number 2 of streams\n");
        }
    }

    @Test
    @Requires(Requirement.STREAM_MEMORY)
    void muchTextComesInOrder() {
        try (BpfObject object = load()) {
            Program say = object.program("say");
            StringBuilder expected = new StringBuilder();
            for (int i = 0; i < 2000; i++) {
                say(say);
                expected.append("number ").append(2 * i + 1).append(" of streams\n");
            }
            assertThat(say.readStream(TextStream.OUT))
                    .hasSizeGreaterThan(32 << 10)
                    .isEqualTo(expected.toString());
        }
    }

    private static BpfObject load() {
        return Bpf.load("streams.bpf.o", loader -> loader.withProgram("say"));
    }

    private static void say(Program say) {
        assertThat(say.test(TestRun.once()).returned()).isZero();
    }
}
