package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FilterOptionTest {
    /** No process has such a probe, which would be said next. */
    private static Run filtered(String command, String filter) {
        Run run = Run.of(command, "--all", "nosuchprovider:probe", "--where", filter);
        assertThat(run.code()).isNotZero();
        assertThat(run.out()).isEmpty();
        return run;
    }

    @ParameterizedTest
    @ValueSource(strings = {"count", "trace", "stack"})
    void aFilterThatNoProbeMakesRightIsSaidFirst(String command) {
        assertThat(filtered(command, "pod == \"web\"").err().getFirst())
                .contains("the kernel does not know", "-p unit=NAME");
        assertThat(filtered(command, "arg0 >").err().getFirst()).contains("expected");
    }

    @Test
    void anEmptyFilterIsAMistake() {
        assertThat(filtered("count", " ").err().getFirst()).endsWith("--where: the expression is empty");
    }
}
