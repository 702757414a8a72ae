package io.bpf4j.usdt.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UndoStackTest {
    private final List<String> done = new ArrayList<>();
    private final UndoStack stack = new UndoStack();

    @Test
    void undoesInReverseAndOnce() {
        stack.push(() -> done.add("first"));
        stack.push(() -> done.add("second"));
        stack.undo();
        stack.undo();
        assertThat(done).containsExactly("second", "first");
    }

    @Test
    void aStepThatFailsKeepsNoOtherFromBeingUndone() {
        stack.push(() -> done.add("first"));
        stack.push(() -> {
            throw new IllegalStateException("two");
        });
        stack.push(() -> {
            throw new IllegalStateException("three");
        });
        assertThatThrownBy(stack::undo)
                .hasMessage("three")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(done).containsExactly("first");
    }
}
