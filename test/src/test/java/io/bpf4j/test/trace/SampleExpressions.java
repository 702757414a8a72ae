package io.bpf4j.test.trace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;

/**
 * Makes expressions at random, each with what it must give for an event. The values are computed here from what C says,
 * without any of the compiler's code.
 */
final class SampleExpressions {
    /** A number. {@code unsigned}: it is an unsigned number of 64 bits. */
    record Sample(String text, boolean unsigned, ToLongFunction<SampleEvent> value) {}

    /** Text of the process or a literal; the bytes that are looked at. */
    private record Text(String text, boolean literal, Function<SampleEvent, byte[]> value) {}

    /** Names, sizes and signs of the arguments 0 to 7; the others are addresses. */
    static final List<Integer> SIZES = List.of(4, 1, 2, 8, 4, 1, 2, 8);

    private static final List<String> PATTERNS = List.of(
            "*",
            "",
            "SELECT*",
            "*t",
            "?",
            "a*b",
            "*ab*ab*",
            "[A-Z]*",
            "[!a-z]*",
            "*/String",
            "x*x",
            "S?LECT*",
            "12345678",
            "*x*y",
            "{SELECT,INSERT}*",
            "{,*[a-z]}{t,x*b}",
            "{*b,?}*{T,}{?,y}");

    private final Random random;

    SampleExpressions(Random random) {
        this.random = random;
    }

    static boolean isSigned(int argument) {
        return argument < 4;
    }

    /** A number, at most so many operators deep. */
    Sample number(int depth) {
        if (depth == 0) {
            return leaf();
        }
        return switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> arithmetic(number(depth - 1), number(random.nextInt(depth)));
            case 4 -> shift(number(depth - 1), number(random.nextInt(depth)));
            case 5 -> compared(number(depth - 1), number(random.nextInt(depth)));
            case 6 -> junction(number(depth - 1), number(random.nextInt(depth)));
            case 7 -> choice(number(random.nextInt(depth)), number(depth - 1), number(random.nextInt(depth)));
            case 8 -> unary(number(depth - 1));
            case 9 -> cast(number(depth - 1));
            case 10 -> memory();
            default -> textual(depth);
        };
    }

    private Sample leaf() {
        int argument = random.nextInt(8);
        return switch (random.nextInt(12)) {
            case 0 -> literal(random.nextInt(5));
            case 1 -> literal(random.nextLong() >>> (1 + random.nextInt(62)));
            case 2 -> {
                long value = random.nextLong();
                yield new Sample("0x" + Long.toHexString(value), value < 0, _ -> value);
            }
            case 3 -> field("pid", SampleEvent::pid);
            case 4 -> field("uid", SampleEvent::uid);
            case 5 -> field("cpu", SampleEvent::cpu);
            case 6 -> field("tid", SampleEvent::tid);
            case 7 -> new Sample("nsecs", true, SampleEvent::nsecs);
            case 8 -> new Sample("mixed", false, e -> mixed(e));
            default ->
                new Sample(
                        "arg" + argument,
                        SIZES.get(argument) == 8 && !isSigned(argument),
                        e -> e.arg(argument, SIZES.get(argument), isSigned(argument)));
        };
    }

    /** A name for different arguments of different probes. */
    private static long mixed(SampleEvent event) {
        return switch (event.probe()) {
            case 1, 2 -> event.arg(0, 4, true);
            case 3 -> event.arg(1, 1, true);
            default -> event.arg(4, 4, false);
        };
    }

    private static Sample literal(long value) {
        return new Sample(String.valueOf(value), false, _ -> value);
    }

    private static Sample field(String name, ToLongFunction<SampleEvent> value) {
        return new Sample(name, false, event -> value.applyAsLong(event) & 0xffff_ffffL);
    }

    private Sample arithmetic(Sample left, Sample right) {
        String operator = List.of("+", "-", "*", "/", "%", "&", "|", "^").get(random.nextInt(8));
        boolean unsigned = left.unsigned() || right.unsigned();
        return new Sample("(" + left.text() + " " + operator + " " + right.text() + ")", unsigned, event -> {
            long a = left.value().applyAsLong(event);
            long b = right.value().applyAsLong(event);
            return switch (operator) {
                case "+" -> a + b;
                case "-" -> a - b;
                case "*" -> a * b;
                case "/" -> b == 0 ? 0 : unsigned ? Long.divideUnsigned(a, b) : a / b;
                case "%" -> b == 0 ? a : unsigned ? Long.remainderUnsigned(a, b) : a % b;
                case "&" -> a & b;
                case "|" -> a | b;
                default -> a ^ b;
            };
        });
    }

    private Sample shift(Sample left, Sample right) {
        boolean up = random.nextBoolean();
        return new Sample("(" + left.text() + (up ? " << " : " >> ") + right.text() + ")", left.unsigned(), event -> {
            long a = left.value().applyAsLong(event);
            long b = right.value().applyAsLong(event);
            return up ? a << b : left.unsigned() ? a >>> b : a >> b;
        });
    }

    private Sample compared(Sample left, Sample right) {
        String operator = List.of("==", "!=", "<", "<=", ">", ">=").get(random.nextInt(6));
        boolean unsigned = left.unsigned() || right.unsigned();
        return truth("(" + left.text() + " " + operator + " " + right.text() + ")", event -> {
            long a = left.value().applyAsLong(event);
            long b = right.value().applyAsLong(event);
            int order = unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
            return switch (operator) {
                case "==" -> order == 0;
                case "!=" -> order != 0;
                case "<" -> order < 0;
                case "<=" -> order <= 0;
                case ">" -> order > 0;
                default -> order >= 0;
            };
        });
    }

    private Sample junction(Sample left, Sample right) {
        boolean both = random.nextBoolean();
        return truth("(" + left.text() + (both ? " && " : " || ") + right.text() + ")", event -> {
            boolean a = left.value().applyAsLong(event) != 0;
            return a == both ? right.value().applyAsLong(event) != 0 : a;
        });
    }

    private static Sample choice(Sample condition, Sample then, Sample otherwise) {
        return new Sample(
                "(" + condition.text() + " ? " + then.text() + " : " + otherwise.text() + ")",
                then.unsigned() || otherwise.unsigned(),
                event -> (condition.value().applyAsLong(event) != 0 ? then : otherwise)
                        .value()
                        .applyAsLong(event));
    }

    private Sample unary(Sample operand) {
        return switch (random.nextInt(3)) {
            case 0 ->
                new Sample(
                        "-" + operand.text(),
                        operand.unsigned(),
                        event -> -operand.value().applyAsLong(event));
            case 1 ->
                new Sample(
                        "~" + operand.text(),
                        operand.unsigned(),
                        event -> ~operand.value().applyAsLong(event));
            default -> truth("!" + operand.text(), event -> operand.value().applyAsLong(event) == 0);
        };
    }

    private Sample cast(Sample operand) {
        int size = 1 << random.nextInt(4);
        boolean signed = random.nextBoolean();
        return new Sample(
                "(" + (signed ? "s" : "u") + 8 * size + ")" + operand.text(),
                size == 8 && !signed,
                event -> SampleEvent.narrow(operand.value().applyAsLong(event), size, signed));
    }

    private Sample memory() {
        int size = 1 << random.nextInt(4);
        boolean signed = random.nextBoolean();
        int argument = random.nextInt(8, 12);
        int offset = random.nextInt(20);
        return new Sample(
                "*(" + (signed ? "s" : "u") + 8 * size + "*)(arg" + argument + " + " + offset + ")",
                size == 8 && !signed,
                event -> event.memory().number(event.arg(argument, 8, false) + offset, size, signed));
    }

    /** A truth about text. */
    private Sample textual(int depth) {
        Text text = text(depth);
        boolean wanted = random.nextBoolean();
        if (random.nextBoolean()) {
            String glob = PATTERNS.get(random.nextInt(PATTERNS.size()));
            Pattern regex = Pattern.compile(
                    glob.replace("?", ".")
                            .replace("*", ".*")
                            .replace("[!", "[^")
                            .replace("{", "(?:")
                            .replace(",", "|")
                            .replace("}", ")"),
                    Pattern.DOTALL);
            return truth(
                    "(" + text.text() + (wanted ? " ~ " : " !~ ") + "\"" + glob + "\")",
                    event -> regex.matcher(new String(text.value().apply(event), StandardCharsets.ISO_8859_1))
                                    .matches()
                            == wanted);
        }
        Text other = random.nextInt(3) == 0 ? text(0) : literal();
        return truth(
                "(" + text.text() + (wanted ? " == " : " != ") + other.text() + ")",
                event -> Arrays.equals(text.value().apply(event), other.value().apply(event)) == wanted);
    }

    private Text literal() {
        List<String> fitComm =
                SampleMemory.texts().stream().filter(text -> text.length() < 16).toList();
        String text = fitComm.get(random.nextInt(fitComm.size()));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Text("\"" + text + "\"", true, _ -> bytes);
    }

    private Text text(int depth) {
        int argument = random.nextInt(8, 12);
        int bound = random.nextInt(30, 33);
        return switch (random.nextInt(depth > 0 ? 5 : 4)) {
            case 0 -> new Text("comm", false, event -> event.comm().getBytes(StandardCharsets.US_ASCII));
            case 1 ->
                new Text("str(arg" + argument + ", " + bound + ")", false, event -> {
                    long address = event.arg(argument, 8, false);
                    return event.memory().text(address, bound);
                });
            case 2 ->
                new Text("str(arg" + argument + ", arg0 - 1, 31)", false, event -> {
                    long address = event.arg(argument, 8, false);
                    int length = (int) Math.max(0, Math.min(31, event.arg(0, 4, true) - 1));
                    return event.memory().bytes(address, length);
                });
            case 3 ->
                new Text("str(arg" + argument + ", (u64)arg0, 29)", false, event -> {
                    long address = event.arg(argument, 8, false);
                    long length = event.arg(0, 4, true);
                    return event.memory().bytes(address, length < 0 || length > 29 ? 29 : (int) length);
                });
            default -> {
                Sample condition = number(depth - 1);
                Text then = text(0);
                Text otherwise = text(0);
                yield new Text(
                        "(" + condition.text() + " ? " + then.text() + " : " + otherwise.text() + ")",
                        false,
                        event -> (condition.value().applyAsLong(event) != 0 ? then : otherwise)
                                .value()
                                .apply(event));
            }
        };
    }

    private static Sample truth(String text, Predicate<SampleEvent> value) {
        return new Sample(text, false, event -> value.test(event) ? 1 : 0);
    }
}
