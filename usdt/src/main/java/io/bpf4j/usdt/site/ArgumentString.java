package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Splits an argument string into arguments and parses each operand by a grammar.
 *
 * <pre>
 *   -4@-20(%rbp) 8@[sp, 28] 8f@%xmm0
 *   |  |         |          |
 *   |  operand   |          a float
 *   4 bytes,     8 bytes, unsigned
 *   signed
 * </pre>
 *
 * <p>Blanks don't separate arguments: operands contain them ({@code [sp, 28]}, {@code $a7, 0}). An argument ends where
 * the next {@code [-]digits[f]@} begins, at the start of the text or after a blank. Files from before 2011 have no
 * sizes; only in these, blanks outside of brackets separate arguments. Such an argument is as wide as its register, or
 * as a word, and unsigned.
 *
 * <p>A text that begins with a colon has no arguments, as in gdb ({@code stap_probe::parse_arguments} of
 * gdb/stap-probe.c).
 *
 * <p>Time and space are linear in the length of the text.
 *
 * <p>Tested by {@code UsdtArgTest} and {@code ArgumentPropertiesTest}.
 */
final class ArgumentString {
    private ArgumentString() {}

    /**
     * Parses all arguments; never throws. The result has all arguments in the order of the text, including unreadable
     * ones.
     */
    static List<UsdtArg> parse(Machine machine, String text) {
        if (text.startsWith(":")) {
            return List.of();
        }
        Optional<ArgGrammar> grammar = ArgGrammar.of(machine);
        if (grammar.isPresent()) {
            return parse(grammar.get(), text);
        }
        String raw = Blanks.strip(text);
        String reason = "argument strings of machine " + machine.machineName() + " can't be read";
        return raw.isEmpty()
                ? List.of()
                : List.of(new UsdtArgData(machine.wordSize(), false, false, new UsdtArg.Unsupported(reason, raw)));
    }

    private static List<UsdtArg> parse(ArgGrammar grammar, String text) {
        List<UsdtArg> arguments = new ArrayList<>();
        int at = Blanks.skip(text, 0);
        int next = sizeEnd(text, at) > 0 ? at : nextSize(text, at);
        if (next > at) {
            words(Blanks.strip(text.substring(at, next))).forEach(word -> arguments.add(withoutSize(grammar, word)));
        }
        while (next < text.length()) {
            int start = next;
            int operandStart = sizeEnd(text, start);
            next = nextSize(text, operandStart);
            String prefix = Blanks.strip(text.substring(start, operandStart - 1)) + "@";
            withSize(grammar, prefix, Blanks.strip(text.substring(operandStart, next)), arguments);
        }
        return List.copyOf(arguments);
    }

    /**
     * Prints arguments so that {@link #parse} gives equal arguments; unsupported arguments are printed unchanged.
     *
     * @throws IllegalArgumentException if the machine's assembler can't express an argument, such as a register of
     *     another machine, or an index together with a displacement if instructions allow only one of them
     */
    static String print(Machine machine, List<UsdtArg> arguments) {
        String text = arguments.stream().map(a -> print(machine, a)).collect(Collectors.joining(" "));
        // A colon at the very beginning would mean that there are no arguments.
        return text.startsWith(":") ? " " + text : text;
    }

    private static String print(Machine machine, UsdtArg argument) {
        if (argument.operand() instanceof UsdtArg.Unsupported u) {
            return u.raw();
        }
        ArgGrammar grammar = ArgGrammar.of(machine)
                .orElseThrow(() -> new IllegalArgumentException(
                        "argument strings of machine " + machine.machineName() + " can't be written"));
        String text = (argument.signed() ? "-" : "") + argument.size() + (argument.isFloat() ? "f" : "") + "@"
                + grammar.print(argument.operand());
        // The operands that can be expressed differ between machines; parsing the result checks this.
        List<UsdtArg> again = parse(grammar, text);
        if (again.size() != 1 || !again.getFirst().operand().equals(argument.operand())) {
            throw new IllegalArgumentException(argument.operand() + " of " + argument.size()
                    + " bytes can't be written for " + grammar.machine().machineName());
        }
        return text;
    }

    private static void withSize(ArgGrammar grammar, String prefix, String operand, List<UsdtArg> out) {
        boolean signed = prefix.startsWith("-");
        boolean isFloat = prefix.endsWith("f@");
        String digits = prefix.substring(signed ? 1 : 0, prefix.length() - (isFloat ? 2 : 1));
        int size = size(digits);
        String raw = prefix + operand;
        if (size != 1 && size != 2 && size != 4 && size != 8) {
            String reason = "a value of " + (size == Integer.MAX_VALUE ? "far too many" : size)
                    + " bytes: only 1, 2, 4 and 8 can be read";
            out.add(argument(size, signed, isFloat, ArgGrammar.unreadable(reason), raw));
            return;
        }
        Optional<Operand> whole = grammar.parse(operand, size);
        if (whole.isPresent()) {
            out.add(argument(size, signed, isFloat, whole.get(), raw));
            return;
        }
        // Arguments without a size may follow: "8@%rax %rbx". Accepted only if every one of them can be read.
        List<String> words = words(operand);
        Optional<Operand> first = words.size() > 1 ? grammar.parse(words.getFirst(), size) : Optional.empty();
        List<String> others = words.subList(Math.min(1, words.size()), words.size());
        if (first.isPresent()
                && others.stream().allMatch(w -> grammar.parse(w, 0).isPresent())) {
            out.add(argument(size, signed, isFloat, first.get(), prefix + words.getFirst()));
            others.forEach(word -> out.add(withoutSize(grammar, word)));
            return;
        }
        out.add(argument(size, signed, isFloat, notUnderstood(grammar, operand), raw));
    }

    /** Leading zeros are ignored; a number beyond an int becomes the largest int. */
    private static int size(String digits) {
        int size = 0;
        for (int i = 0; i < digits.length(); i++) {
            size = size > 99_999_999 ? Integer.MAX_VALUE : 10 * size + (digits.charAt(i) - '0');
            if (size == Integer.MAX_VALUE) {
                return size;
            }
        }
        return size;
    }

    private static UsdtArg withoutSize(ArgGrammar grammar, String word) {
        Operand operand = grammar.parse(word, 0).orElseGet(() -> notUnderstood(grammar, word));
        return argument(grammar.widthOf(word), false, false, operand, word);
    }

    private static UsdtArg argument(int size, boolean signed, boolean isFloat, Operand operand, String raw) {
        return new UsdtArgData(
                size,
                signed,
                isFloat,
                operand instanceof UsdtArg.Unsupported u ? new UsdtArg.Unsupported(u.reason(), raw) : operand);
    }

    private static Operand notUnderstood(ArgGrammar grammar, String operand) {
        return ArgGrammar.unreadable(
                operand.isEmpty()
                        ? "no operand after the size"
                        : ArgGrammar.quote(operand) + " is not an operand of "
                                + grammar.machine().machineName());
    }

    /** Splits at blanks outside of brackets that have no comma beside them. */
    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (Blanks.isBlank(c) && depth <= 0) {
                int end = Blanks.skip(text, i);
                boolean comma =
                        (i > start && text.charAt(i - 1) == ',') || (end < text.length() && text.charAt(end) == ',');
                if (!comma) {
                    words.add(text.substring(start, i));
                    start = end;
                }
                i = end - 1;
            }
        }
        if (start < text.length()) {
            words.add(text.substring(start));
        }
        return words;
    }

    /** The start of the next {@code [-]digits[f]@} after a blank, or the end of the text. */
    private static int nextSize(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (Blanks.isBlank(text.charAt(i))) {
                int start = Blanks.skip(text, i);
                if (start < text.length() && sizeEnd(text, start) > 0) {
                    return start;
                }
                i = start - 1;
            }
        }
        return text.length();
    }

    /** The index after {@code [-]digits[f]@} at this place, or -1. There may be blanks before the {@code @}. */
    private static int sizeEnd(String text, int at) {
        int i = at;
        if (i < text.length() && text.charAt(i) == '-') {
            i++;
        }
        int digits = i;
        while (i < text.length() && Expression.isDigit(text.charAt(i))) {
            i++;
        }
        if (i == digits) {
            return -1;
        }
        if (i < text.length() && text.charAt(i) == 'f') {
            i++;
        }
        i = Blanks.skip(text, i);
        return i < text.length() && text.charAt(i) == '@' ? i + 1 : -1;
    }
}
