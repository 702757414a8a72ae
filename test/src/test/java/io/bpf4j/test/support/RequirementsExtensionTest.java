package io.bpf4j.test.support;

import static io.bpf4j.test.support.Requirement.CLANG;
import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** The rule about skipping, on a machine that has everything but clang. */
class RequirementsExtensionTest {

    private static void judge(boolean ci, String excused, Requirement... requirements) {
        RequirementsExtension.judge(
                List.of(requirements),
                r -> r == CLANG ? Optional.of("CLANG: needs clang") : Optional.empty(),
                ci,
                excused);
    }

    @Test
    void whatIsThereNeverSkips() {
        assertThatCode(() -> judge(true, "", GCC)).doesNotThrowAnyException();
        assertThatCode(() -> judge(false, "", GCC)).doesNotThrowAnyException();
    }

    @Test
    void whatIsMissingSkipsAndIsNamed() {
        assertThatThrownBy(() -> judge(false, "", GCC, CLANG))
                .isInstanceOf(TestAbortedException.class)
                .hasMessage("CLANG: needs clang");
    }

    @Test
    void inCiItFailsUnlessItIsExcused() {
        assertThatThrownBy(() -> judge(true, "", GCC, CLANG))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("CLANG: needs clang");
        assertThatThrownBy(() -> judge(true, "GCC", GCC, CLANG)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> judge(true, "GCC, CLANG", GCC, CLANG)).isInstanceOf(TestAbortedException.class);
    }
}
