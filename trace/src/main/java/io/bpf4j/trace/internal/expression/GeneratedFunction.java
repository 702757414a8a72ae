package io.bpf4j.trace.internal.expression;

import io.bpf4j.insn.Instruction;
import io.bpf4j.trace.expression.ExpressionException;
import java.util.List;
import java.util.Set;

/**
 * The body of a BPF function that evaluates expressions over an event. <i>Immutable.</i>
 *
 * <p>The function has three parameters: the address of the event, {@code struct question_event} of {@code question.h};
 * the address of its output; and that of {@link Tables}. It calls helpers of the kernel and nothing else, needs a stack
 * of at most 128 bytes, and returns -1 if an argument or memory that it needs can't be read: then the output is
 * undefined. It needs Linux 5.5: {@code bpf_probe_read_user}, and bounded loops for patterns.
 *
 * <p>{@code &&}, {@code ||} and {@code ?:} evaluate only the operands that they need. So an argument that some probes
 * lack may be used after a comparison of the probe or its provider that excludes these probes.
 *
 * <p>Comparisons use text up to a bound: 128 bytes in a predicate, or 64 if two texts of the process are compared; half
 * of that in keys and values, which have less memory for it. Longer text is compared as if it ended there.
 *
 * @param instructions the body
 * @param arguments bit n: the function reads {@code argN}
 * @param fields the fields filled on demand that the function reads
 * @param outputs the values that the function writes, in order; empty for a predicate, which uses its output as scratch
 * @param probes the numbers of the scope's probes for which a predicate can be true; for other functions, of all probes
 *     of the scope
 * @param uses the names that the function depends on
 */
public record GeneratedFunction(
        List<Instruction> instructions,
        int arguments,
        Set<Field> fields,
        List<Output> outputs,
        Set<Integer> probes,
        List<NameUse> uses) {
    public GeneratedFunction {
        instructions = List.copyOf(instructions);
        fields = Set.copyOf(fields);
        outputs = List.copyOf(outputs);
        probes = Set.copyOf(probes);
        uses = List.copyOf(uses);
    }

    /** Bytes that a predicate may use at the address in its second parameter. */
    public static final int SCRATCH = 160;

    /**
     * A function that returns 1 if the expression is true or a number other than 0, else 0. It uses {@value #SCRATCH}
     * bytes of the output as memory for text; they must be initialized, with any values.
     *
     * @throws ExpressionException if the expression does not fit the scope, is not a condition, or is too large
     */
    public static GeneratedFunction predicate(Expression expression, Scope scope, Tables tables) {
        return new Compiler(scope, tables).predicate(expression);
    }

    /**
     * A function that writes a number of 8 bytes, and returns 0.
     *
     * @throws ExpressionException if the expression does not fit the scope, is not a number, or is too large
     */
    public static GeneratedFunction value(Expression expression, Scope scope, Tables tables) {
        return new Compiler(scope, tables).value(expression);
    }

    /**
     * A function that writes the values one after the other, and returns 0. Numbers, truth values and probes have 8
     * bytes; text has its bound, rounded up to a multiple of 8, and zeros after it. A bound that is not in the
     * expression is 64 bytes; mangled names share the bytes that are left of the limit, up to 160 for each.
     *
     * @param limit bytes of the output
     * @throws ExpressionException if an expression does not fit the scope or is too large, or if the values together do
     *     not fit the limit
     */
    public static GeneratedFunction outputs(List<Expression> expressions, Scope scope, Tables tables, int limit) {
        return new Compiler(scope, tables).outputs(expressions, limit);
    }

    /** Bytes of the output that the values take, in whole words; 0 for a predicate. */
    public int outputBytes() {
        if (outputs.isEmpty()) {
            return 0;
        }
        Output last = outputs.getLast();
        return Math.ceilDiv(last.offset() + last.size(), Long.BYTES) * Long.BYTES;
    }
}
