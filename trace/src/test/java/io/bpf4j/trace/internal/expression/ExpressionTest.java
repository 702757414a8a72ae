package io.bpf4j.trace.internal.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.expression.ExpressionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpressionTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            a + b * c;                      (a + (b * c))
            a - b - c;                      ((a - b) - c)
            a << 1 + b;                     (a << (1 + b))
            a & b == c;                     (a & (b == c))
            a | b ^ c & d;                  (a | (b ^ (c & d)))
            a || b && c;                    (a || (b && c))
            a < b == c > d;                 ((a < b) == (c > d))
            a ~ "x" && !b;                  ((a ~ "x") && !b)
            a !~ "x" == b;                  ((a !~ "x") == b)
            a ? b : c ? d : e;              (a ? b : (c ? d : e))
            a ? b ? c : d : e;              (a ? (b ? c : d) : e)
            -a * ~b;                        (-a * ~b)
            - - a;                          --a
            !~a !~ "x";                     (!~a !~ "x")
            !a == b;                        (!a == b)
            (u8) a + b;                     ((u8)a + b)
            (a) - b;                        (a - b)
            (unsigned) a;                   (u32)a
            (unsigned long long int) a;     (u64)a
            (signed char) a;                (s8)a
            (uint32_t) a;                   (u32)a
            (uint32) a;                     (u32)a
            (i8) a;                         (s8)a
            *(int64*) (a + 8);              *(s64*)(a + 8)
            *(int16_t*)a;                   *(s16*)a
            *(u16*)a + 1;                   (*(u16*)a + 1)
            *(long*)(a + 8);                *(s64*)(a + 8)
            str(a, 3, b) == "q\\"\\x41\\101"; (str(a, 3, b) == "q"AA")
            (((a)));                        a
            """)
    void operatorsBindAsInC(String text, String grouped) {
        assertThat(show(Expression.parse(text).tree())).isEqualTo(grouped);
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', textBlock = """
            0,                      0,                      s64
            255,                    255,                    s64
            0xFF,                   255,                    s64
            'a',                    97,                     s64
            '\\n',                  10,                     s64
            '\\0',                  0,                      s64
            9223372036854775807,    9223372036854775807,    s64
            9223372036854775808,    9223372036854775808,    u64
            0xffffffffffffffff,     18446744073709551615,   u64
            1ns,                    1,                      s64
            7us,                    7000,                   s64
            1.5ms,                  1500000,                s64
            2s,                     2000000000,             s64
            0.5m,                   30000000000,            s64
            1h,                     3600000000000,          s64
            3B,                     3,                      s64
            2KB,                    2000,                   s64
            4KiB,                   4096,                   s64
            1.5MiB,                 1572864,                s64
            1GB,                    1000000000,             s64
            2.0,                    2,                      s64
            """)
    void numbersHaveUnits(String text, String value, String type) {
        assertThat(Expression.parse(text).tree()).isInstanceOfSatisfying(Syntax.Numeral.class, number -> {
            assertThat(Long.toUnsignedString(number.value())).isEqualTo(value);
            assertThat(number.type()).hasToString(type);
        });
    }

    @Test
    void anErrorShowsThePlace() {
        assertThatThrownBy(() -> Expression.parse("arg0 > 50 &&"))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("expected a name, a number or '(', found the end\n    arg0 > 50 &&\n                ^");
        assertThatThrownBy(() -> Expression.parse("a\t= 1"))
                .isInstanceOf(ExpressionException.class)
                .hasMessage("'=' is not an operator; '==' compares\n    a = 1\n      ^");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            1.5;            0;  a number without a unit must be whole
            1.0001us1;      6;  unknown unit 'us1'
            1.0001us;       0;  not a whole number of nanoseconds
            1.3B;           0;  not a whole number of bytes
            3 parsecs;      2;  expected an operator, found 'parsecs'
            3parsecs;       1;  unknown unit 'parsecs'
            010;            0;  octal
            0xzz;           0;  not a hexadecimal number
            18446744073709551616; 0; more than 64 bits
            9999999h;       0;  more than 64 bits
            "abc;           0;  this text is not closed
            'ab';           0;  is one byte
            "a\\*";         2;  unknown escape
            "\\xg";         1;  not a byte
            "\\777";        1;  not a byte
            a $ b;          2;  no operator starts with this character
            (a;             2;  expected ')', found the end
            a ? b;          5;  expected ':', found the end
            a b;            2;  expected an operator, found 'b'
            (size_t) a;     1;  'size_t' is not a type; these are u8 to u64 and s8 to s64, and C's, such as uint8_t and unsigned int
            *(void*)(a);    2;  'void' is not a type; these are u8 to u64 and s8 to s64, and C's, such as uint8_t and unsigned int
            f(a) b;         5;  expected an operator, found 'b'
            (a) b;          1;  'a' is not a type; these are u8 to u64 and s8 to s64, and C's, such as uint8_t and unsigned int
            (a + b) a;      8;  expected an operator, found 'a'
            (2 *);          4;  expected a name, a number or '(', found ')'
            a + * b +;      9;  found the end
            (short long) a; 7;  C has no such type
            f(a, );         5;  found ')'
            ;               0;  found the end
            """)
    void whatIsWrongHasAPlace(String text, int position, String reason) {
        assertThatThrownBy(() -> Expression.parse(text == null ? "" : text))
                .isInstanceOfSatisfying(ExpressionException.class, e -> {
                    assertThat(e.reason()).contains(reason);
                    assertThat(e.position()).isEqualTo(position);
                });
    }

    @Test
    void sizesAreBounded() {
        assertThatThrownBy(() -> Expression.parse("(".repeat(65) + "a" + ")".repeat(65)))
                .hasMessageContaining("nested more than 64 levels deep");
        assertThatThrownBy(() -> Expression.parse("-".repeat(4000) + "a")).hasMessageContaining("nested more than 64");
        assertThatThrownBy(() -> Expression.parse("a?b:".repeat(500) + "c")).hasMessageContaining("nested more than");
        assertThatThrownBy(() -> Expression.parse("1" + "+1".repeat(500))).hasMessageContaining("more than 1000");
        assertThat(Expression.parse("1" + "+1".repeat(499)).text()).hasSize(999);
        assertThatThrownBy(() -> Expression.parse(" ".repeat(8_193))).hasMessageContaining("8192 characters");
        assertThatThrownBy(() -> Expression.parse("1".repeat(8_000))).hasMessageContaining("too many digits");
    }

    @Test
    void aLongTextIsShownAroundThePlace() {
        assertThatThrownBy(() -> Expression.parse("a+".repeat(100) + "$" + "+a".repeat(100)))
                .hasMessageMatching("(?s)no operator starts with this character\n    …[a+]{50}\\$[a+]{49}…\n {55}\\^");
    }

    /** The tree with all parentheses. */
    private static String show(Syntax tree) {
        return switch (tree) {
            case Syntax.Numeral n -> Long.toUnsignedString(n.value());
            case Syntax.Truth t -> String.valueOf(t.value());
            case Syntax.Text t -> "\"" + t.bytes() + "\"";
            case Syntax.Name n -> n.name();
            case Syntax.Unary u -> u.operator() + show(u.operand());
            case Syntax.Binary b -> "(" + show(b.left()) + " " + b.operator() + " " + show(b.right()) + ")";
            case Syntax.Conditional c ->
                "(" + show(c.condition()) + " ? " + show(c.then()) + " : " + show(c.otherwise()) + ")";
            case Syntax.Cast c -> "(" + c.type() + ")" + show(c.operand());
            case Syntax.PointerCast c -> "(" + c.type() + "*)" + show(c.operand());
            case Syntax.Call c ->
                c.function()
                        + c.arguments().stream().map(ExpressionTest::show).collect(Collectors.joining(", ", "(", ")"));
        };
    }

    /** What the kernel does not know is no filter, unless an argument has the name. */
    @Test
    void aFilterByTheNameOfAGroupIsRefusedAtThisName() {
        Expression byPod = Expression.parse("pid > 1 && !(begin.pod ~ \"web*\")");
        assertThatThrownBy(() -> byPod.requireFilter(_ -> false))
                .isInstanceOfSatisfying(ExpressionException.class, refusal -> {
                    assertThat(refusal.position()).isEqualTo("pid > 1 && !(".length());
                    assertThat(refusal.reason()).contains("the kernel does not know");
                });
        byPod.requireFilter("pod"::equals);
        Expression.parse("cgroup == 7 && podium").requireFilter(_ -> false);
    }
}
