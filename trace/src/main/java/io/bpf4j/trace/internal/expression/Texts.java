package io.bpf4j.trace.internal.expression;

import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.BoundOrigin;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.ProbeName;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Makes the terms of texts and of their comparisons. <i>Confined.</i>
 *
 * <p>Comparisons of a probe's name are decided here, for each probe. The code only has to find out whether the event's
 * probe is one of those for which the comparison is true. Text of the process is read into memory of a fixed size, so
 * this class lowers the bounds of texts to it, or refuses a bound that the user chose.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Texts {
    /** The advice against a condition with the name of a group; {@code %s} is its type. */
    static final String NOT_IN_KERNEL =
            "this is %s, which the kernel does not know, so it can only be a key or be shown; to select events, ask about"
                    + " the unit, container or pod itself: -p unit=NAME and the like; in a program, Target.unit and the like";

    private static final int DEFAULT_BOUND = 64;

    /** The largest bound of a long name in an output, in bytes. */
    private static final int MAX_NAME_BYTES = 160;

    /** The maximum number of bytes that {@code question_show} can write. */
    private static final int MAX_BOUND = 1024;

    private final Typing typing;
    private final Scope scope;
    private final List<NameUse> uses;
    private final int room;

    /** @param uses receives the comparisons of probes' names */
    Texts(Typing typing, Scope scope, List<NameUse> uses, int room) {
        this.typing = typing;
        this.scope = scope;
        this.uses = uses;
        this.room = room;
    }

    /** {@code str(…)}, the only function. */
    Textual call(Syntax.Call call) {
        List<Syntax> arguments = call.arguments();
        if (!call.function().equals("str")) {
            throw typing.error(call.at(), "no function '" + call.function() + "'; the only function is str");
        }
        if (arguments.isEmpty() || arguments.size() > 3) {
            throw typing.error(call.at(), "str takes an address, and optionally the number of bytes and a bound");
        }
        Term first = typing.term(arguments.getFirst());
        if (first instanceof Textual text) {
            if (arguments.size() > 2) {
                throw typing.error(call.at(), "this is text already; str takes only a bound with it");
            }
            return arguments.size() == 1 ? text : bounded(text, bound(arguments.get(1)), call.at());
        }
        Numeric address = typing.number(arguments.getFirst());
        if (arguments.size() == 1) {
            return new Term.UserText(address, Optional.empty(), DEFAULT_BOUND, BoundOrigin.DEFAULT);
        }
        Numeric length = typing.number(arguments.get(1));
        if (arguments.size() == 2 && length instanceof Constant) {
            return new Term.UserText(address, Optional.empty(), bound(arguments.get(1)), BoundOrigin.CHOSEN);
        }
        return arguments.size() == 2
                ? new Term.UserText(address, Optional.of(length), DEFAULT_BOUND, BoundOrigin.DEFAULT)
                : new Term.UserText(address, Optional.of(length), bound(arguments.get(2)), BoundOrigin.CHOSEN);
    }

    private int bound(Syntax syntax) {
        if (typing.number(syntax) instanceof Constant(long value, ValueType _) && value >= 1 && value <= MAX_BOUND) {
            return (int) value;
        }
        throw typing.error(syntax.at(), "the bound of a text must be a constant from 1 to " + MAX_BOUND);
    }

    private Textual bounded(Textual text, int bound, int at) {
        return switch (text) {
            case Term.UserText(Numeric address, Optional<Numeric> length, int _, BoundOrigin _) ->
                new Term.UserText(address, length, bound, BoundOrigin.CHOSEN);
            case Term.TextChoice(Numeric condition, Textual then, Textual otherwise) ->
                new Term.TextChoice(condition, bounded(then, bound, at), bounded(otherwise, bound, at));
            case Term.Literal _, Term.Comm _ -> throw typing.error(at, "str can limit only the text of an argument");
            case Term.BeginText _ ->
                throw typing.error(at, "a text of the begin gets its bound when it is read: str(begin.…, n)");
        };
    }

    /**
     * The text as an output: up to the bound that the user chose, or else up to the default, which is raised for long
     * names. All texts of a choice without a chosen bound get the size of the output as their bound, so that a full
     * output means that the text was cut.
     *
     * @param more the bytes by which the bound of a long name is raised
     */
    static Textual shown(Textual text, int more) {
        Textual shown = withRaisedBound(text, more);
        return shown instanceof Term.TextChoice ? withBound(shown, shown.bound() + 7 & -8) : shown;
    }

    private static Textual withRaisedBound(Textual text, int more) {
        return switch (text) {
            case Term.UserText(Numeric address, Optional<Numeric> length, int bound, BoundOrigin origin) ->
                new Term.UserText(address, length, withRaisedBound(bound, origin, more), origin);
            case Term.TextChoice(Numeric condition, Textual then, Textual otherwise) ->
                new Term.TextChoice(condition, withRaisedBound(then, more), withRaisedBound(otherwise, more));
            case Term.Literal _, Term.Comm _, Term.BeginText _ -> text;
        };
    }

    private static int withRaisedBound(int bound, BoundOrigin origin, int more) {
        return switch (origin) {
            case CHOSEN -> bound;
            case DEFAULT -> DEFAULT_BOUND;
            case LONG -> Math.min(DEFAULT_BOUND + more, MAX_NAME_BYTES);
        };
    }

    private static Textual withBound(Textual text, int size) {
        return switch (text) {
            case Term.UserText(Numeric address, Optional<Numeric> length, int _, BoundOrigin origin)
            when origin != BoundOrigin.CHOSEN -> new Term.UserText(address, length, size, origin);
            case Term.TextChoice(Numeric condition, Textual then, Textual otherwise) ->
                new Term.TextChoice(condition, withBound(then, size), withBound(otherwise, size));
            case Term.UserText _, Term.Literal _, Term.Comm _, Term.BeginText _ -> text;
        };
    }

    /** Whether the text, or a text of a choice, has a bound of this origin. */
    static boolean has(Textual text, Predicate<BoundOrigin> origin) {
        return switch (text) {
            case Term.UserText user -> origin.test(user.origin());
            case Term.TextChoice choice -> has(choice.then(), origin) || has(choice.otherwise(), origin);
            case Term.BeginText begin -> begin.cuts() && origin.test(BoundOrigin.DEFAULT);
            case Term.Literal _, Term.Comm _ -> false;
        };
    }

    /** Whether the text, or a text of a choice, is a text of the begin that may be cut below this size. */
    static boolean mayBeCutBelow(Textual text, int size) {
        return switch (text) {
            case Term.BeginText begin -> begin.cuts() && begin.bound() < size;
            case Term.TextChoice choice ->
                mayBeCutBelow(choice.then(), size) || mayBeCutBelow(choice.otherwise(), size);
            case Term.UserText _, Term.Literal _, Term.Comm _ -> false;
        };
    }

    /** The text with its bound lowered to the bytes that can be compared, {@code maxBytes}. */
    Textual fitted(Textual text, int maxBytes, int at) {
        return switch (text) {
            case Term.UserText(Numeric address, Optional<Numeric> length, int bound, BoundOrigin origin) -> {
                if (origin == BoundOrigin.CHOSEN && bound > maxBytes) {
                    throw typing.error(at, "only " + maxBytes + " bytes of a text can be compared here, not " + bound);
                }
                yield new Term.UserText(address, length, Math.min(bound, maxBytes), origin);
            }
            case Term.TextChoice(Numeric condition, Textual then, Textual otherwise) ->
                new Term.TextChoice(condition, fitted(then, maxBytes, at), fitted(otherwise, maxBytes, at));
            case Term.Literal literal -> {
                if (literal.bound() > maxBytes) {
                    throw typing.error(at, "this text is longer than the " + maxBytes + " bytes that are compared");
                }
                yield literal;
            }
            case Term.Comm comm -> comm;
            case Term.BeginText _ ->
                throw typing.error(
                        at, "a text of the begin can be compared only with texts between \"…\" and texts of the begin");
        };
    }

    /** {@code left ~ right}. */
    Numeric matches(Syntax.Binary binary) {
        if (!(binary.right() instanceof Syntax.Text(int at, Bytes bytes))) {
            throw typing.error(binary.right().at(), "a pattern is a text between \"…\"");
        }
        Glob pattern;
        PatternMachine machine;
        try {
            pattern = Glob.ofText(bytes.characters());
            machine = new PatternMachine(pattern);
        } catch (IllegalArgumentException e) {
            throw typing.error(at, String.valueOf(e.getMessage()));
        }
        return switch (typing.term(binary.left())) {
            case Term.Literal literal ->
                Folding.truth(pattern.matches(literal.bytes().characters()));
            case Textual text ->
                new Term.Matches(fitted(text, room, binary.left().at()), machine);
            case ProbeName name ->
                ofProbes(probe -> pattern.matches(Bytes.of(nameOf(name, probe)).characters()));
            case Term.GroupName name -> throw unknownGroup(name.type(), binary.left());
            case Term.BeginBits(Term.Slot _, ValueType type)
            when Term.GroupName.TYPES.contains(type) -> throw unknownGroup(type, binary.left());
            case Numeric _, Term.FloatArgument _, Term.BeginBits _ ->
                throw typing.error(
                        binary.left().at(), "a pattern matches text; if this is the address of text, write str(…)");
        };
    }

    private ExpressionException unknownGroup(ValueType type, Syntax part) {
        return typing.error(part.at(), NOT_IN_KERNEL.formatted(type));
    }

    /** {@code left == right}, where neither side is a number. */
    Numeric same(Syntax.Binary binary, Term left, Term right) {
        if (Term.GroupName.TYPES.contains(left.type())) {
            throw unknownGroup(left.type(), binary.left());
        }
        if (Term.GroupName.TYPES.contains(right.type())) {
            throw unknownGroup(right.type(), binary.right());
        }
        if (left instanceof Term.Literal(Bytes a) && right instanceof Term.Literal(Bytes b)) {
            return Folding.truth(a.equals(b));
        }
        if (left instanceof ProbeName a && right instanceof ProbeName b) {
            return ofProbes(probe -> nameOf(a, probe).equals(nameOf(b, probe)));
        }
        if (left instanceof ProbeName name && right instanceof Term.Literal(Bytes bytes)) {
            return ofProbes(probe -> Bytes.of(nameOf(name, probe)).equals(bytes));
        }
        if (left instanceof Term.Literal && right instanceof ProbeName) {
            return same(binary, right, left);
        }
        if (left instanceof Textual a && right instanceof Textual b) {
            return a instanceof Term.Literal ? compared(b, a, binary) : compared(a, b, binary);
        }
        throw typing.error(binary.at(), "the name of a probe can be compared only with a text between \"…\"");
    }

    /** Compares two texts, of which only the second may be a literal. */
    private Numeric compared(Textual left, Textual right, Syntax.Binary binary) {
        if (right instanceof Term.Literal literal) {
            Textual text = fitted(left, room, binary.at());
            if (literal.bound() > text.bound()) {
                throw typing.error(
                        binary.at(), "never equal: " + text.bound() + " bytes are compared, and the literal is longer");
            }
            return new Term.SameText(text, literal);
        }
        Textual first = fitted(left, room / 2, binary.at());
        Textual second = fitted(right, room / 2, binary.at());
        // The first text waits in memory while the second is read.
        if (!StackNeed.comparesText(second)) {
            return new Term.SameText(first, second);
        }
        if (!StackNeed.comparesText(first)) {
            return new Term.SameText(second, first);
        }
        throw typing.error(binary.at(), "the addresses of both texts depend on other texts; compare one by one");
    }

    private static String nameOf(ProbeName name, String probe) {
        return name.type() == ValueType.Basic.PROVIDER ? Output.provider(probe) : probe;
    }

    /** @param isTrue whether the comparison is true of a probe, by its full name */
    private Numeric ofProbes(Predicate<String> isTrue) {
        uses.add(new NameUse.Comparison(isTrue));
        Map<Integer, String> probes = scope.probes();
        SortedSet<Integer> numbers = new TreeSet<>();
        probes.forEach((number, probe) -> {
            if (isTrue.test(probe)) {
                numbers.add(number);
            }
        });
        return scope.isOpen() ? new Term.OfProbe(numbers) : Folding.ofProbe(numbers, probes.size());
    }
}
