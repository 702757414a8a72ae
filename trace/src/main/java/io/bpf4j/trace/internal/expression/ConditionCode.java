package io.bpf4j.trace.internal.expression;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;

import io.bpf4j.insn.Opcodes;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import java.util.SortedSet;

/**
 * Generates the code of conditions, as jumps: a condition that only decides is not converted to a value.
 * <i>Confined.</i>
 *
 * <p>Each condition ends in a conditional jump, even if it is a constant, because the verifier refuses unreachable
 * instructions.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class ConditionCode {
    private final Code code;
    private final NumberCode numbers;
    private final TextCode texts;
    private final Window buffer;

    /** @param buffer memory into which text is read */
    ConditionCode(Code code, NumberCode numbers, TextCode texts, Window buffer) {
        this.code = code;
        this.numbers = numbers;
        this.texts = texts;
        this.buffer = buffer;
    }

    /** Jumps to the label if the truth of the value is {@code when}; else the code continues after it. */
    void jumpIf(Numeric term, boolean when, String label) {
        switch (term) {
            case Term.Comparison comparison -> compare(comparison, when, label);
            case Term.Not(Numeric operand) -> jumpIf(operand, !when, label);
            case Term.Both(Numeric left, Numeric right) -> junction(left, right, false, when, label);
            case Term.Either(Numeric left, Numeric right) -> junction(left, right, true, when, label);
            case Term.OfProbe(SortedSet<Integer> probes) -> jumpIfProbe(probes, when, label);
            case Term.Matches matches -> {
                texts.match(matches, buffer);
                code.jumpIf(when ? Opcodes.JNE : Opcodes.JEQ, R0, 0, label);
            }
            case Term.SameText same -> {
                String unequal = when ? code.label() : label;
                texts.jumpIfUnequal(same, buffer, unequal);
                if (when) {
                    code.jump(label);
                    code.place(unequal);
                }
            }
            default -> {
                numbers.evaluate(term);
                code.jumpIf(when ? Opcodes.JNE : Opcodes.JEQ, R0, 0, label);
            }
        }
    }

    private void compare(Term.Comparison comparison, boolean when, String label) {
        Relation relation = when ? comparison.relation() : comparison.relation().inverse();
        int jump = relation.jump(comparison.unsigned());
        if (comparison.right() instanceof Constant(long value, ValueType _) && Code.isImmediate(value)) {
            numbers.evaluate(comparison.left());
            code.jumpIf(jump, R0, (int) value, label);
        } else {
            numbers.operands(comparison.left(), comparison.right());
            code.jumpIfWith(jump, R0, R1, label);
        }
    }

    /** {@code &&}, which is decided by a false left side, or {@code ||}, which is decided by a true one. */
    private void junction(Numeric left, Numeric right, boolean decides, boolean when, String label) {
        if (when == decides) {
            jumpIf(left, decides, label);
            jumpIf(right, decides, label);
        } else {
            String decided = code.label();
            jumpIf(left, decides, decided);
            jumpIf(right, when, label);
            code.place(decided);
        }
    }

    private void jumpIfProbe(SortedSet<Integer> probes, boolean when, String label) {
        String found = when ? label : code.label();
        Probes.load(code);
        if (probes.isEmpty()) {
            code.jumpIf(when ? Opcodes.JEQ : Opcodes.JNE, R0, 0, label); // no probe has this number
            return;
        }
        for (Probes.Run run : Probes.runs(probes)) {
            if (run.first() == run.last()) {
                code.jumpIf(Opcodes.JEQ, R0, run.first(), found);
            } else {
                String next = code.label();
                code.jumpIf(Opcodes.JLT, R0, run.first(), next);
                code.jumpIf(Opcodes.JLE, R0, run.last(), found);
                code.place(next);
            }
        }
        if (!when) {
            code.jump(label);
            code.place(found);
        }
    }
}
