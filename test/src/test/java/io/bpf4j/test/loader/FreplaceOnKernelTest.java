package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs that take the place of a function of another program. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
class FreplaceOnKernelTest {

    @Test
    @Requires(Requirement.FREPLACE)
    void aFunctionIsReplacedWhileTheLinkIsThere() throws Exception {
        try (BpfObject replaced = Bpf.load("replaced.bpf.o");
                BpfObject replacement =
                        loader().attachTo("better", replaced.program("ask")).load()) {
            assertThat(ask(replaced)).isEqualTo(41);
            try (Link link = replacement.program("better").attach()) {
                assertThat(link.isClosed()).isFalse();
                assertThat(ask(replaced)).isEqualTo(42);
            }
            Await.until("the answer of the function itself", () -> ask(replaced), answer -> answer == 41);
        }
    }

    @Test
    void withoutATargetItSaysWhatToDo() {
        assertThatThrownBy(() -> loader().load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("better")
                .hasMessageContaining("BpfLoader.attachTo");
    }

    @Test
    void aTargetWithoutTheFunctionIsNamed() {
        try (BpfObject other = Bpf.load("test_runs.bpf.o")) {
            assertThatThrownBy(() ->
                            loader().attachTo("better", other.program("longer")).load())
                    .isInstanceOf(RelocationException.class)
                    .hasMessageContaining("\"longer\" has no function \"answer\"");
        }
    }

    private static BpfLoader loader() {
        return BpfLoader.of(Bpf.spec("replacement.bpf.o"));
    }

    private static int ask(BpfObject object) {
        return object.program("ask").test(TestRun.onData(new byte[64])).returned();
    }
}
