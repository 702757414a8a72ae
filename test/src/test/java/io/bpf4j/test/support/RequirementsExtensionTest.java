package io.bpf4j.test.support;

import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** The rule about skipping, on a machine that has everything but clang. */
class RequirementsExtensionTest {

    private static final List<String> LINES = List.of(
            "# machines",
            "",
            "bare  lacks     CLANG GDB: small",
            "small  lacks  GCC: smaller",
            "any  may-lack  CLANG GCC: differ");

    private static void judge(boolean ci, String machine, Requirement... requirements) {
        RequirementsExtension.judge(
                List.of(requirements),
                r -> r == CLANG ? Optional.of("CLANG: needs clang") : Optional.empty(),
                ci,
                KnownLacks.of(machine, LINES));
    }

    @Test
    void whatIsThereNeverSkips() {
        assertThatCode(() -> judge(true, "", GCC)).doesNotThrowAnyException();
        assertThatCode(() -> judge(false, "small", GCC)).doesNotThrowAnyException();
    }

    @Test
    void whatIsMissingSkipsAndIsNamed() {
        assertThatThrownBy(() -> judge(false, "", GCC, CLANG))
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("CLANG: needs clang");
    }

    @Test
    void inCiItFailsUnlessTheMachineIsKnownToLackIt() {
        assertThatThrownBy(() -> judge(true, "", GCC, CLANG))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("a machine without a name: CLANG: needs clang");
        assertThatThrownBy(() -> judge(true, "small", CLANG)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> judge(true, "bare", GCC, CLANG)).isInstanceOf(TestAbortedException.class);
        assertThatThrownBy(() -> judge(true, "any", GCC, CLANG)).isInstanceOf(TestAbortedException.class);
    }

    @Test
    void inCiItFailsIfTheMachineHasWhatItIsSaidToLack() {
        assertThatThrownBy(() -> judge(true, "small", GCC))
                .isInstanceOf(AssertionError.class)
                .hasMessage(
                        "test/machines.txt says that small lacks what is there: GCC; take it off the list, so that its"
                                + " tests run");
        assertThatThrownBy(() -> judge(true, "small bare", CLANG, GCC)).isInstanceOf(AssertionError.class);
        assertThatCode(() -> judge(true, "small any", GCC)).doesNotThrowAnyException();
    }

    @Test
    void aListIsReadWholeAndStrictly() {
        assertThatThrownBy(() -> KnownLacks.of("other", LINES)).hasMessageContaining("no line for one of: other");
        assertThatThrownBy(() -> KnownLacks.of("", List.of("bare lacks NOTHING: small")))
                .hasMessageContaining("NOTHING");
        assertThatThrownBy(() -> KnownLacks.of("", List.of("bare lacks CLANG")))
                .hasMessageContaining("bare lacks CLANG");
    }

    /** All requirements, also those that no test of this run has. */
    @Test
    void whatThisMachineIsKnownToLackItLacks() {
        Throwable judged = catchThrowable(() -> RequirementsExtension.insistOn(List.of(Requirement.values())));
        assertThat(judged).isNotInstanceOf(AssertionError.class);
    }
}
