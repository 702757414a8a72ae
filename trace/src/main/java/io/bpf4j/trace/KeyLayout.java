package io.bpf4j.trace;

import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.Output;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.trace.internal.expression.Tables;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a key, by which the kernel counts: first the values of expressions, then the hashes of stacks.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code CompiledQuestionTest} and {@code QuestionsOnKernelTest}.
 *
 * @param expressions the function that writes the values; null if there are none
 * @param userStackAt where the hash of the stack in user space is; negative if it isn't there
 * @param kernelStackAt where the hash of the stack in the kernel is, likewise
 * @param bytes the size of a key; without keys, that of an array's index
 */
record KeyLayout(@Nullable GeneratedFunction expressions, int userStackAt, int kernelStackAt, int bytes) {
    /** {@code QUESTION_OUT}: the largest key. */
    static final int MOST_BYTES = 160;

    private static final int NO_STACK = -1;

    static KeyLayout of(Question question, Scope scope, Tables tables) {
        // A stack gets its names from the mappings of its process, so the process is a key.
        List<String> by = new ArrayList<>(question.by);
        if (question.userStack && !by.contains("pid")) {
            by.add("pid");
        }
        int stackBytes = (question.userStack ? Long.BYTES : 0) + (question.kernelStack ? Long.BYTES : 0);
        GeneratedFunction expressions = by.isEmpty()
                ? null
                : GeneratedFunction.outputs(
                        by.stream().map(Expression::parse).toList(), scope, tables, MOST_BYTES - stackBytes);
        int end = expressions == null ? 0 : expressions.outputBytes();
        int bytes = end + stackBytes;
        return new KeyLayout(
                expressions,
                question.userStack ? end : NO_STACK,
                question.kernelStack ? bytes - Long.BYTES : NO_STACK,
                bytes == 0 ? Integer.BYTES : bytes);
    }

    /** Whether there is an answer for each key, rather than one. */
    boolean isKeyed() {
        return expressions != null || kernelStackAt != NO_STACK;
    }

    /** The expressions, in order. */
    List<String> names() {
        return outputs().stream().map(Output::text).distinct().toList();
    }

    private List<Output> outputs() {
        return expressions == null ? List.of() : expressions.outputs();
    }

    /** The numbers of the control groups in a key. */
    List<Long> groupsOf(byte[] key) {
        ByteBuffer bytes = ByteBuffer.wrap(key).order(ByteOrder.nativeOrder());
        return outputs().stream()
                .filter(Output::isGroup)
                .map(output -> bytes.getLong(output.offset()))
                .toList();
    }

    /**
     * The identity of keys that are shown alike. The functions write a provider as the number of the first of its
     * probes that they know; probes that appeared later have their own. A unit, container or pod may have several
     * control groups, so its name stands for their numbers.
     *
     * @param open whether probes may have appeared later
     */
    Object same(byte[] key, boolean open, ProbeNumbers numbers, Output.GroupName groups) {
        byte[] same = key.clone();
        ByteBuffer bytes = ByteBuffer.wrap(same).order(ByteOrder.nativeOrder());
        List<String> names = new ArrayList<>();
        for (Output output : outputs()) {
            int at = output.offset();
            if (output.isGroup()) {
                names.add(groups.of((ValueType.Basic) output.type(), bytes.getLong(at)));
                bytes.putLong(at, 0);
            } else if (open && output.type() == ValueType.Basic.PROVIDER) {
                bytes.putLong(at, numbers.firstOfProvider(bytes.getLong(at)));
            }
        }
        return names.isEmpty() ? ByteBuffer.wrap(same) : List.of(ByteBuffer.wrap(same), names);
    }
}
