package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import org.junit.jupiter.api.Test;

class ReasonsTest {
    private final Reasons reasons = new Reasons();

    private void add(Kind kind, String message) {
        reasons.add(new Diagnostic(kind, "subject", message));
    }

    @Test
    void manyOfOneKindDoNotHideAnother() {
        for (int i = 1; i <= 100; i++) {
            add(Kind.LATE, "late " + i);
        }
        add(Kind.NOT_ATTACHED, "refused");
        add(Kind.LATE, "late 3");
        assertThat(reasons.toList())
                .extracting(Diagnostic::message)
                .containsExactly(
                        "late 1", "late 2", "late 3", "late 4", "late 5", "and there are further reasons", "refused");
    }

    @Test
    void thoseOfAKindAreRemoved() {
        add(Kind.LATE, "late");
        add(Kind.NOT_ATTACHED, "refused");
        reasons.remove(Kind.LATE);
        assertThat(reasons.toList()).extracting(Diagnostic::message).containsExactly("refused");
        reasons.remove(Kind.NOT_ATTACHED);
        assertThat(reasons.isEmpty()).isTrue();
    }
}
