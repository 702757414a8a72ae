package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.Optional;

/**
 * The memory that the evaluation of a term needs: the number of values that wait on the stack at once, and whether text
 * is read to compare it. {@link NumberCode} explains why the number is small.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class StackNeed {
    private StackNeed() {}

    /** The maximum number of values on the stack at one time. */
    static int of(Term term) {
        int need = ofParts(term);
        return term instanceof Term.Condition || term instanceof Term.Choice ? Math.max(1, need) : need;
    }

    private static int ofParts(Term term) {
        return switch (term) {
            case Term.Constant _, Term.Argument _, Term.FieldValue _, Term.OfProbe _ -> 0;
            case Term.BeginNumber _, Term.BeginText _, Term.BeginBits _ -> 0;
            case Term.Literal _, Term.Comm _, Term.ProbeName _, Term.GroupName _, Term.FloatArgument _ -> 0;
            case Term.Converted(Numeric operand, ValueType _) -> of(operand);
            case Term.Memory(Numeric address, ValueType _) -> Math.max(1, of(address));
            case Term.Arithmetic t -> ofOperands(t.left(), t.right());
            case Term.Comparison t -> ofOperands(t.left(), t.right());
            case Term.Choice t -> Math.max(of(t.condition()), Math.max(of(t.then()), of(t.otherwise())));
            case Term.TextChoice t -> Math.max(of(t.condition()), Math.max(of(t.then()), of(t.otherwise())));
            case Term.Both(Numeric left, Numeric right) -> Math.max(of(left), of(right));
            case Term.Either(Numeric left, Numeric right) -> Math.max(of(left), of(right));
            case Term.Not(Numeric operand) -> of(operand);
            case Term.Matches(Textual text, PatternMachine _) -> of(text);
            case Term.SameText(Textual left, Textual right) -> Math.max(of(left), 1 + of(right));
            case Term.UserText(Numeric address, Optional<Numeric> length, int _, Term.BoundOrigin _) ->
                length.map(number -> ofOperands(address, number)).orElseGet(() -> of(address));
        };
    }

    private static int ofOperands(Numeric left, Numeric right) {
        int a = of(left);
        int b = of(right);
        if (NumberCode.isSimple(left) || NumberCode.isSimple(right)) {
            return Math.max(a, b);
        }
        return a == b ? a + 1 : Math.max(a, b);
    }

    /** Whether the evaluation reads text into the buffer for comparisons. */
    static boolean comparesText(Term term) {
        return switch (term) {
            case Term.Matches _, Term.SameText _ -> true;
            case Term.Constant _, Term.Argument _, Term.FieldValue _, Term.OfProbe _ -> false;
            case Term.BeginNumber _, Term.BeginText _, Term.BeginBits _ -> false;
            case Term.Literal _, Term.Comm _, Term.ProbeName _, Term.GroupName _, Term.FloatArgument _ -> false;
            case Term.Converted(Numeric operand, ValueType _) -> comparesText(operand);
            case Term.Memory(Numeric address, ValueType _) -> comparesText(address);
            case Term.Arithmetic t -> comparesText(t.left()) || comparesText(t.right());
            case Term.Comparison t -> comparesText(t.left()) || comparesText(t.right());
            case Term.Choice t -> comparesText(t.condition()) || comparesText(t.then()) || comparesText(t.otherwise());
            case Term.TextChoice t ->
                comparesText(t.condition()) || comparesText(t.then()) || comparesText(t.otherwise());
            case Term.Both(Numeric left, Numeric right) -> comparesText(left) || comparesText(right);
            case Term.Either(Numeric left, Numeric right) -> comparesText(left) || comparesText(right);
            case Term.Not(Numeric operand) -> comparesText(operand);
            case Term.UserText(Numeric address, Optional<Numeric> length, int _, Term.BoundOrigin _) ->
                comparesText(address) || length.filter(StackNeed::comparesText).isPresent();
        };
    }
}
