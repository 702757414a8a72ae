package io.bpf4j.trace.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.groups.Tuple.tuple;

import io.bpf4j.trace.catalog.ArgumentType.Unit;
import io.bpf4j.trace.expression.ValueType;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogParserTest {
    private static final String EXAMPLE = """
            # Two probes of a shop.
            provider shop

            enum payment 0=cash 1=card -1=none

            probe order__begin(customer: text[length], length: u32, id: u64,
                payment: s32 payment)
              # Fires in any thread.
              An order begins.
              It has an id.
              pair order__end by id
            probe order__end(id: u64, duration: s64 ns, paid: bool, receipt: pointer)
              An order has ended.
            probe closed()

            question shop orders
              How long orders take.
              needs --trace-orders -v
              run latency shop:order__begin shop:order__end --where 'id > 7 && id < 9' --by payment
            """;

    private static Catalog parse(String text) {
        return Catalog.parse("shop.probes", text);
    }

    private static ArgumentType type(String type) {
        return parse("provider p\nenum mode 1=on\nprobe n(a: " + type + ", l: s32)")
                .find("p", "n")
                .orElseThrow()
                .arguments()
                .getFirst()
                .type();
    }

    @Test
    void aProbeHasItsArgumentsInOrder() {
        ProbeSignature begin = parse(EXAMPLE).find("shop", "order__begin").orElseThrow();
        assertThat(begin.fullName()).isEqualTo("shop:order__begin");
        assertThat(begin.description()).isEqualTo("An order begins. It has an id.");
        assertThat(begin.arguments())
                .extracting(ProbeArgument::index, ProbeArgument::name)
                .containsExactly(tuple(0, "customer"), tuple(1, "length"), tuple(2, "id"), tuple(3, "payment"));
        assertThat(begin.argument("customer").orElseThrow().type())
                .isEqualTo(new ArgumentType.Text(OptionalInt.of(1), OptionalInt.empty(), false));
        assertThat(begin.argument("payment").orElseThrow().type())
                .isEqualTo(new ArgumentType.Int(
                        new ValueType.Int(4, true), Optional.empty(), Map.of(0L, "cash", 1L, "card", -1L, "none")));
        assertThat(begin.argument("nobody")).isEmpty();
    }

    @Test
    void bothProbesOfAPairKnowIt() {
        ProbePair pair = new ProbePair("order__begin", "order__end", Optional.of("id"));
        assertThat(parse(EXAMPLE).find("shop", "order__begin").orElseThrow().pair())
                .hasValue(pair);
        assertThat(parse(EXAMPLE).find("shop", "order__end").orElseThrow().pair())
                .hasValue(pair);
        ProbeSignature closed = parse(EXAMPLE).find("shop", "closed").orElseThrow();
        assertThat(closed.pair()).isEmpty();
        assertThat(closed.arguments()).isEmpty();
        assertThat(closed.description()).isEmpty();
    }

    @Test
    void aPairIsByThreadUnlessItSaysOtherwise() {
        String probes = "provider p\nprobe b(fd: s32)\n pair e%s\nprobe e(fd: s32)";
        assertThat(parse(probes.formatted("")).find("p", "b").orElseThrow().pair())
                .hasValue(new ProbePair("b", "e", Optional.empty()));
        assertThat(parse(probes.formatted(" by fd"))
                        .find("p", "b")
                        .orElseThrow()
                        .pair())
                .hasValue(new ProbePair("b", "e", Optional.of("fd")));
    }

    @Test
    void aQuestionHasItsWords() {
        ReadyQuestion question = parse(EXAMPLE).findQuestion("shop", "orders").orElseThrow();
        assertThat(question.description()).isEqualTo("How long orders take.");
        assertThat(question.flags()).containsExactly("--trace-orders", "-v");
        assertThat(question.command())
                .containsExactly(
                        "latency",
                        "shop:order__begin",
                        "shop:order__end",
                        "--where",
                        "id > 7 && id < 9",
                        "--by",
                        "payment");
    }

    @ParameterizedTest
    @CsvSource({"s8,1,true", "s16,2,true", "s32,4,true", "s64,8,true", "u8,1,false", "u16,2,false", "u32,4,false"})
    void integersHaveSizeAndSign(String type, int size, boolean signed) {
        assertThat(type(type)).isEqualTo(new ArgumentType.Int(new ValueType.Int(size, signed)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ns", "us", "ms", "s", "bytes"})
    void integersMayHaveAUnit(String unit) {
        assertThat(type("u64 " + unit)).isEqualTo(new ArgumentType.Int(ValueType.Int.U64, Unit.of(unit), Map.of()));
        assertThat(Unit.of(unit).orElseThrow().symbol()).isEqualTo(unit);
    }

    @Test
    void otherTypes() {
        assertThat(type("s32 mode"))
                .isEqualTo(new ArgumentType.Int(new ValueType.Int(4, true), Optional.empty(), Map.of(1L, "on")));
        assertThat(type("bool")).isEqualTo(new ArgumentType.Bool());
        assertThat(type("pointer")).isEqualTo(new ArgumentType.Pointer());
        assertThat(type("text")).isEqualTo(new ArgumentType.Text(OptionalInt.empty(), OptionalInt.empty(), false));
        assertThat(type("text[l]")).isEqualTo(new ArgumentType.Text(OptionalInt.of(1), OptionalInt.empty(), false));
        assertThat(type("text at 8 mangled"))
                .isEqualTo(new ArgumentType.Text(OptionalInt.empty(), OptionalInt.of(8), true));
    }

    @Test
    void aProbeMayHaveAnEntryForEachNumberOfArguments() {
        Catalog catalog = parse("provider p\nprobe n(a: s32, b: s32)\nprobe n(a: s32)");
        assertThat(catalog.find("p", "n").orElseThrow().arguments()).hasSize(2);
        assertThat(catalog.find("p", "n", 1).orElseThrow().arguments()).hasSize(1);
        assertThat(catalog.find("p", "n", 2).orElseThrow().arguments()).hasSize(2);
        assertThat(catalog.find("p", "n", 3).orElseThrow().arguments()).hasSize(2);
        assertThat(catalog.find("p", "m", 2)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            prove p                                 | 1 | expected 'provider', 'enum', 'probe' or 'question', found 'prove'
            \\ x                                    | 1 | expected 'provider', 'enum', 'probe' or 'question' in the first
            provider                                | 1 | expected a provider's name
            provider a b                            | 1 | expected a provider's name
            probe n()                               | 1 | expected a line 'provider NAME' above the first probe
            P;probe n                               | 2 | expected a probe as 'NAME(ARGUMENT: TYPE, …)', found 'n'
            P;probe a,b()                           | 2 | expected a probe's name
            P;probe n(a)                            | 2 | expected an argument as 'name: type', found 'a'
            P;probe n(a: s32                        | 2 | expected ')' at the end of the line
            P;probe n(a: s32,                       | 2 | the list of arguments is not closed
            P;probe n(a: s32,;b: x)                 | 3 | unknown type 'x': expected bool, pointer, text
            P;probe n(a: s33)                       | 2 | unknown type 's33'
            P;probe n(a: s32 parsec)                | 2 | 'parsec' is not an enum of this file
            P;probe n(a: bool ns)                   | 2 | unknown type 'bool ns'
            P;probe n(a b: s32)                     | 2 | expected an argument's name
            P;probe n(1a: s32)                      | 2 | expected an argument's name
            P;probe n(pid: s32)                     | 2 | 'pid' is reserved in expressions
            P;probe n(arg0: s32)                    | 2 | 'arg0' is reserved in expressions
            P;probe n(long: s64)                    | 2 | 'long' is reserved in expressions
            P;probe n(u32: u32)                     | 2 | 'u32' is reserved in expressions
            P;probe n(a: s32, a: s32)               | 2 | two arguments are named 'a'
            P;probe n(a: text[l])                   | 2 | expected an integer argument 'l'
            P;probe n(a: text[l], l: text)          | 2 | expected an integer argument 'l'
            P;probe n();probe n()                   | 3 | p:n with 0 arguments is already defined in line 2
            P;probe n(); fires often                | 3 | expected 'pair END', or a sentence
            P;probe n(); pair                       | 3 | expected 'pair END', or a sentence
            P;probe n(); pair a b                   | 3 | expected 'pair END' or 'pair END by ARGUMENT'
            P;probe n(); pair e                     | 3 | expected an entry for p:e in this file, because it ends a pair
            P;probe n(a: s8); pair e by a;probe e() | 3 | e has no such 'a'
            P;probe n(); pair e by a;probe e()      | 3 | n has no such 'a'
            P;probe n(a: text); pair e by a;probe e(a: text) | 3 | n has no such 'a'
            P;probe n(); pair e; pair e;probe e()   | 4 | a probe can begin only one pair, which line 3 declares
            enum                                    | 1 | expected an enum's name
            enum e                                  | 1 | expected values after the enum's name
            enum e a=1                              | 1 | expected a value as '1=shared', found 'a=1'
            enum e 1=a 1=b                          | 1 | the value 1 has two names
            enum e 1=a;enum e 1=a                   | 2 | the enum 'e' is declared twice
            question a                              | 1 | expected 'question GROUP NAME', found 'question a'
            question a b c                          | 1 | expected 'question GROUP NAME'
            question a b                            | 1 | expected an indented line 'run COMMAND' below the question
            question a b; runs                      | 2 | expected 'run COMMAND' or 'needs OPTION', or a sentence
            question a b; run x; run y              | 3 | a question runs one command
            question a b; run x;question a b; run x | 3 | line 1 has the same question
            question a b; run x'y'                  | 2 | expected words separated by blanks
            question a b; run 'x                    | 2 | expected words separated by blanks
            """)
    void anErrorSaysWhereAndWhat(String text, int line, String problem) {
        String written = text.replace("\\", "").replace("P;", "provider p;").replace(';', '\n');
        CatalogException e = catchThrowableOfType(CatalogException.class, () -> parse(written));
        assertThat(e).as(written).isNotNull();
        assertThat(e).hasMessageStartingWith("shop.probes:" + line + ": ").hasMessageContaining(problem);
        assertThat(e.source()).isEqualTo("shop.probes");
        assertThat(e.line()).isEqualTo(line);
    }

    @Test
    void everythingHasALimit() {
        String arguments =
                IntStream.range(0, 13).mapToObj(i -> "a" + i + ": s32").collect(Collectors.joining(", "));
        assertProblem("provider p\nprobe n(" + arguments + ")", 2, "a probe has at most 12 arguments");
        assertProblem("#" + "x".repeat(Lines.MAX_LENGTH), 1, "a line has at most 1000 characters");
        assertProblem("#\n#\33[31m", 2, "a control character");
        assertProblem("\n".repeat(CatalogText.MAX_BYTES + 1), 1, "larger than 1048576 characters");
        assertThat(parse("\n".repeat(CatalogText.MAX_BYTES)).probes()).isEmpty();
    }

    private static void assertProblem(String text, int line, String problem) {
        CatalogException e = catchThrowableOfType(CatalogException.class, () -> parse(text));
        assertThat(e).hasMessageContaining(problem);
        assertThat(e.line()).isEqualTo(line);
    }

    /** Whatever is cut off or changed, the result is a catalog or an error that says where. */
    @Test
    void damagedTextIsACatalogOrAnError() {
        Random random = new Random(1);
        for (int i = 0; i <= EXAMPLE.length(); i++) {
            parseOrFail(EXAMPLE.substring(0, i));
            parseOrFail(EXAMPLE.substring(i));
        }
        for (int i = 0; i < 2_000; i++) {
            StringBuilder text = new StringBuilder(EXAMPLE);
            for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
                text.setCharAt(random.nextInt(text.length()), (char) random.nextInt(9, 128));
            }
            parseOrFail(text.toString());
        }
    }

    /** The words of the language in any order. */
    @Test
    void anyWordsAreACatalogOrAnError() {
        String[] words = (EXAMPLE
                        + " [ ] ( ) , : = # ' \" -1 99999999999999999999 str u8 s64 ns bytes array enum provider"
                        + " pair by question needs run latency \0 \u00e9 \t")
                .split("(?<=\\s)|(?=[(),:\\[\\]=])", -1);
        Random random = new Random(Long.getLong("bpf4j.test.seed", 2));
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "provider p\n" : "");
            for (int n = random.nextInt(30); n > 0; n--) {
                text.append(words[random.nextInt(words.length)]).append(random.nextInt(5) == 0 ? "\n" : "");
            }
            parseOrFail(text.toString());
        }
    }

    private static void parseOrFail(String text) {
        try {
            parse(text);
        } catch (CatalogException e) {
            assertThat(e.line()).isBetween(1, (int) text.lines().count() + 1);
        }
    }
}
