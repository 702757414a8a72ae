package io.bpf4j.trace.internal.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Instruction;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The code's results are compared on the kernel; here are its shape, its types, and what is refused. */
class GeneratedFunctionTest {
    private static final Output.GroupName GROUPS = (kind, id) -> kind.name() + " " + id;

    private static final Scope SCOPE = new SmallScope(Set.of());

    private static GeneratedFunction predicate(String text) {
        return GeneratedFunction.predicate(Expression.parse(text), SCOPE, new Tables());
    }

    private static GeneratedFunction outputs(int limit, String... texts) {
        return GeneratedFunction.outputs(
                List.of(texts).stream().map(Expression::parse).toList(), SCOPE, new Tables(), limit);
    }

    @Test
    void aComparisonIsAFewInstructions() {
        assertThat(predicate("pointer > 50").instructions().stream().map(Instruction::toString))
                .containsExactly(
                        "r6 = r1",
                        "r0 = *(u32 *)(r6 +148)",
                        "if r0 & 0x2 goto pc+7",
                        "r0 = *(u64 *)(r6 +8)",
                        "r0 |= 0",
                        "if r0 <= 0x32 goto pc+2",
                        "r0 = 1",
                        "exit",
                        "r0 = 0",
                        "exit",
                        "r0 = -1",
                        "exit");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            1 + 2 * 3 == 7;                         1
            -7 / 2 == -3 && -7 % 2 == -1;           1
            7 / 0 == 0 && 7 % 0 == 7;               1
            -1 > 0xffffffffffffffff - 1;            1
            -1 < 1;                                 1
            (u8) 0x1ff == 255 && (s8) 255 == -1;    1
            1 << 65 == 2;                           1
            -8 >> 1 == -4;                          1
            ~0 == -1;                               1
            "abc" ~ "a*" && "abc" != "abd";         1
            probe == "db:begin" || provider == "x"; _
            provider == "db" && probe ~ "db:*";     1
            provider ~ "x*";                        0
            provider ~ "{db,x}" && "abc" ~ "{b,a?}c"; 1
            probe == provider;                      0
            true ? 0 : 1;                           0
            """)
    void constantsAreComputed(String text, String result) {
        List<Instruction> code = predicate(text).instructions();
        if (result.equals("_")) {
            assertThat(code).anyMatch(i -> i.src() == Code.EVENT);
        } else {
            assertThat(code.getFirst().imm()).isEqualTo(Integer.parseInt(result));
            assertThat(code).hasSize(6);
        }
    }

    @Test
    void aFunctionTellsWhatItReads() {
        GeneratedFunction function = predicate("arg0 > 1 && nsecs > 5 && uid == 0 && query == \"x\" && comm != \"y\"");
        assertThat(function.arguments()).isEqualTo(1 | 1 << 4 | 1 << 5);
        assertThat(function.fields()).containsExactlyInAnyOrder(Field.NSECS, Field.UID, Field.COMM);
        assertThat(predicate("pid == 1 && tid == 2 && probe == \"db:end\"").fields())
                .containsExactly(Field.THREAD);
        assertThat(predicate("probe == \"db:end\"").fields()).isEmpty();
        assertThat(predicate("moved == 1").arguments()).isEqualTo(1 | 1 << 2);
        assertThat(predicate("true").arguments()).isZero();
    }

    @Test
    void argumentsThatAreReadAlikeShareCode() {
        assertThat(predicate("address > 50").instructions())
                .isEqualTo(predicate("pointer > 50").instructions());
    }

    @Test
    void outputsHaveAPlaceAndAType() {
        List<Output> outputs = outputs(
                        160, "arg0", "query", "full", "provider", "comm", "pointer + 1", "str(pointer, 3)")
                .outputs();
        assertThat(outputs.stream().map(Output::offset)).containsExactly(0, 8, 72, 80, 88, 104, 112);
        assertThat(outputs.stream().map(Output::size)).containsExactly(8, 64, 8, 8, 16, 8, 8);
        assertThat(outputs.stream().map(Output::type))
                .containsExactly(
                        new ValueType.Int(4, true),
                        ValueType.Basic.TEXT,
                        ValueType.Basic.BOOL,
                        ValueType.Basic.PROVIDER,
                        ValueType.Basic.TEXT,
                        ValueType.Int.U64,
                        ValueType.Basic.TEXT);
    }

    @Test
    void outputsAreRead() {
        byte[] text = "Z\u00fcrich".getBytes(StandardCharsets.ISO_8859_1);
        byte[] out = ByteBuffer.allocate(24)
                .order(ByteOrder.nativeOrder())
                .putLong(-1)
                .putLong(2)
                .put(text)
                .array();
        assertThat(new Output("", ValueType.Int.S64, 0, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo(-1L);
        assertThat(new Output("", ValueType.Int.U64, 0, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo(new BigInteger("18446744073709551615"));
        assertThat(new Output("", ValueType.Int.U64, 8, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo(2L);
        assertThat(new Output("", ValueType.Basic.BOOL, 8, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo(true);
        assertThat(new Output("", ValueType.Basic.TEXT, 16, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo("Z\udcfcrich");
        assertThat(new Output("", ValueType.Basic.TEXT, 0, 6, false)
                        .decode(
                                new byte[] {'a', (byte) 0xff, (byte) 0xc3, (byte) 0xa9, (byte) 0xe2, (byte) 0x82},
                                _ -> "",
                                GROUPS))
                .as("each byte that is not UTF-8 stays")
                .isEqualTo("a\udcff\u00e9\udce2\udc82");
        assertThat(new Output("", ValueType.Basic.PROBE, 8, 8, false).decode(out, number -> "p:" + number, GROUPS))
                .isEqualTo("p:2");
        assertThat(new Output("", ValueType.Basic.PROVIDER, 8, 8, false).decode(out, number -> "p:" + number, GROUPS))
                .isEqualTo("p");
        assertThat(new Output("", ValueType.Basic.POD, 8, 8, false).decode(out, number -> "", GROUPS))
                .isEqualTo("POD 2");
    }

    /** The kernel writes the number of the control group. */
    @Test
    void namesOfGroupsAreKeysOnly() {
        assertThat(sizes(16, "container", "begin_or_pod ? unit : unit".replace("begin_or_pod", "pid")))
                .containsExactly(8, 8);
        for (String wrong : List.of("container == \"3f2a\"", "\"a\" != pod", "unit ~ \"nginx*\"", "pod + 1", "!unit")) {
            assertThatThrownBy(() -> sizes(16, wrong))
                    .as(wrong)
                    .hasMessageContaining("which the kernel does not know, so it can only be a key or be shown");
        }
    }

    private static List<Integer> sizes(int limit, String... texts) {
        return outputs(limit, texts).outputs().stream().map(Output::size).toList();
    }

    @Test
    void namesOfTypesTakeTheRoomThatIsLeft() {
        assertThat(sizes(160, "type")).containsExactly(160);
        assertThat(sizes(152, "pid", "type", "query")).containsExactly(8, 80, 64);
        assertThat(sizes(160, "type", "str(type)")).containsExactly(80, 80);
        assertThat(sizes(160, "type", "str(type, 20)", "pid == 1 ? type : comm"))
                .containsExactly(64, 24, 64);
        assertThat(sizes(1024, "type", "query")).containsExactly(160, 64);
        assertThat(sizes(160, "pid == 1 ? query : str(pointer, 99)", "full")).containsExactly(104, 8);
        assertThatThrownBy(() -> outputs(48, "type"))
                .hasMessageStartingWith("needs 64 bytes, but only 48 of 48 are left");
    }

    @Test
    void aTextThatFillsItsSizeIsCut() {
        byte[] out = new byte[160];
        Arrays.fill(out, 0, 104, (byte) 'x');
        assertThat(outputs(160, "query").outputs().getFirst().isCut(out)).isTrue();
        assertThat(outputs(160, "type").outputs().getFirst().isCut(out)).isFalse();
        assertThat(outputs(160, "str(query, 64)").outputs().getFirst().isCut(out))
                .isFalse();
        assertThat(outputs(160, "pid").outputs().getFirst().isCut(out)).isFalse();
        assertThat(outputs(160, "comm").outputs().getFirst().isCut(out)).isFalse();
        assertThat(outputs(160, "pid == 1 ? query : str(pointer, 99)")
                        .outputs()
                        .getFirst()
                        .isCut(out))
                .isTrue();
        assertThat(outputs(160, "pid == 1 ? comm : str(pointer, 99)")
                        .outputs()
                        .getFirst()
                        .isCut(out))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            arg00 > 1;                  0;  no name 'arg00'; the nearest is 'arg0'
            1 + Querry;                 4;  the nearest is 'query'
            cmm == "x";                 0;  the nearest is 'comm'
            once > 1;                   0;  probe db:end has no 'once'; other probes have it
            once > 1 && probe == "db:begin"; 0; probe db:end has no 'once'; other probes have it: guard it, as in probe == "db:begin"
            probe == "db:begin" && rows > 1; 23; probe db:begin has no 'rows'
            probe == "db:begin" || once > 1; 23; probe db:end has no 'once'
            probe != "db:end" ? rows : 0; 20; probe db:begin has no 'rows'
            provider == "db" && once > 1; 20; probe db:end has no 'once'
            probe == "db:begin" == once;  23; probe db:end has no 'once'
            probe == "none" && onec > 1; 19; no name 'onec'
            unclear > 1;                0;  text for some of the probes, and a number for others
            ratio > 3;                  0;  ratio is a floating-point number
            1 + ratio;                  4;  ratio is a floating-point number
            !ratio;                     1;  ratio is a floating-point number
            "x" == ratio;               7;  ratio is a floating-point number
            (long) ratio == 1;          7;  ratio is a floating-point number
            str(ratio) == "x";          4;  ratio is a floating-point number
            pid == 1 ? ratio : 1;       11; ratio is a floating-point number
            ratio ~ "x";                0;  a pattern matches text
            part > 1;                   0;  a floating-point number, and not the same argument for all probes
            doubtful;                   0;  at some sites of the probe, and has another type at others
            retval > 0;                 0;  these probes are not function returns
            query;                      0;  query is text, not a number
            query + 1;                  0;  query is text, not a number
            str(arg1) + 1;              0;  this is text, not a number
            query > "x";                6;  text has no order
            arg0 == "x";                5;  can't compare arg0 (an s32) with text; if the number is the address
            full == "x";                5;  can't compare full (a truth value) with text
            arg0 ~ "x";                 0;  a pattern matches text
            query ~ arg0;               8;  a pattern is a text between
            query ~ "[x";               8;  '[' without ']'
            query ~ "{x";               8;  '{' without '}'
            probe == comm;              6;  with a text between
            probe + 1;                  0;  probe is the name of a probe, not a number
            arg0 ? "x" : 1;             5;  can't choose between text and an s64
            *pointer;                   0;  the type of the value is missing
            (u8*)pointer;               0;  a pointer can only be read
            strlen(pointer);            0;  no function 'strlen'; the only function is str
            str() == "x";               0;  str takes an address
            str(pointer, 0) == "x";     13; a constant from 1 to 1024
            str(pointer, 9, arg0) == "x"; 16; a constant from 1 to 1024
            str(query, 1, 2) == "x";    0;  this is text already
            str(comm, 3) == "x";        0;  limit only the text of an argument
            str(pointer, 3) == "abcd";  16; never equal
            comm == "12345678901234567"; 5; never equal
            str(pointer, 129) == "x";   18; only 128 bytes of a text can be compared here
            pointer < 0;                8;  this is never true, because pointer is a u64, which is from 0 to 18446744073709551615; if it is meant as a signed number, write (int)… or (s64)…
            pointer >= 0;               8;  this is always true
            0 > pointer;                2;  this is never true
            pointer > -1;               8;  pointer is a u64, which is never negative
            -1 <= pointer;              3;  pointer is a u64, which is never negative
            *(u64*)pointer > -1;        15; a u64 is never negative
            (u8)arg0 == 256;            9;  this is never true, because a u8 is from 0 to 255
            (u8)arg0 != 256;            9;  this is always true
            (s8)arg0 > 127;             9;  this is never true, because an s8 is from -128 to 127
            (u32)arg0 == -1;            10; this is never true, because a u32 is from 0 to 4294967295; if it is meant as a signed number, write (s32)…
            arg0 <= 2147483647;         5;  this is always true
            str(pointer, 65) == comm;   17; only 64 bytes of a text can be compared here
            """)
    void anExpressionThatCanNotBeCompiledHasAPlace(String text, int position, String reason) {
        assertThatThrownBy(() -> predicate(text)).isInstanceOfSatisfying(ExpressionException.class, e -> {
            assertThat(e.reason()).contains(reason);
            assertThat(e.position()).isEqualTo(position);
        });
    }

    /** What probes the filter can be true for, if it is right to guard an argument in this way. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '\0', textBlock = """
            probe == "db:begin" && once > 5;                            1
            !(probe == "db:end") && once > 5;                           1
            probe != "db:end" && once > 5;                              1
            probe == "db:end" || once > 5;                              1 2
            probe ~ "*:b*" && pid > 1 && once > 5 && once < 9;          1
            pid == 1 && (probe == "db:begin" && once > 5);              1
            probe == "db:begin" && once > 5 || probe == "db:end" && rows > 5;  1 2
            (probe == "db:begin" || pid == 1) && probe != "db:begin" && rows > 5;  2
            !(probe != "db:begin" || once > 5);                         1
            probe == "db:begin" ? once : rows;                          1 2
            probe == "db:begin" ? once > 5 : false;                     1
            (probe == "db:begin" ? unclear : "") == "x";                1 2
            probe == "db:end" && unclear == 5;                          2
            probe == "db:begin" && unclear == "x";                      1
            probe == "db:begin" && str(once) == "x";                    1
            probe == "db:begin" && *(u32*)once == 5;                    1
            probe == "none" && once > 5;                                _
            probe == "none" ? once : 1;                                 1 2
            probe == "db:end" && probe == "db:begin" && once > 5;       _
            false && once > 5;                                          _
            true || rows > 5;                                           1 2
            pid == 1;                                                   1 2
            """)
    void aComparisonOfTheProbeGuardsWhatOnlySomeHave(String text, String probes) {
        assertThat(predicate(text).probes().stream()
                        .sorted()
                        .map(String::valueOf)
                        .collect(Collectors.joining(" ")))
                .isEqualTo(probes.replace("_", ""));
    }

    @Test
    void keysAreGuardedToo() {
        GeneratedFunction keys = outputs(
                160,
                "probe == \"db:begin\" ? once : -1",
                "probe == \"db:end\" && rows > 1",
                "probe == \"db:end\" ? unclear : 0");
        assertThat(keys.arguments()).isEqualTo(1 | 1 << 2 | 1 << 4);
        assertThatThrownBy(() -> outputs(160, "once")).hasMessageContaining("probe db:end has no 'once'");
    }

    @Test
    void aReturnIsGuarded() {
        Scope mixed = new SmallScope(Set.of(2));
        GeneratedFunction guarded =
                GeneratedFunction.predicate(Expression.parse("probe == \"db:end\" && retval > 1"), mixed, new Tables());
        assertThat(guarded.probes()).containsExactly(2);
        assertThatThrownBy(() -> GeneratedFunction.predicate(Expression.parse("retval > 1"), mixed, new Tables()))
                .hasMessageContaining(
                        "probe db:begin has no 'retval'; other probes have it: guard it, as in probe == \"db:end\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"retval < 0", "retval == -1", "-1 != retval", "retval <= -22"})
    void aNegativeReturnNeedsACast(String text) {
        Scope returns = new SmallScope(Set.of(1, 2));
        assertThatThrownBy(() -> GeneratedFunction.predicate(Expression.parse(text), returns, new Tables()))
                .hasMessageContaining("(int)");
        GeneratedFunction.predicate(Expression.parse(text.replace("retval", "(int)retval")), returns, new Tables());
        GeneratedFunction.predicate(Expression.parse(text.replace("retval", "(s64)retval")), returns, new Tables());
    }

    /** -1 of an int is 2^32 - 1 in a register that a compiler filled by a move of 32 bits. */
    @ParameterizedTest
    @ValueSource(strings = {"word == -1", "-22 != word", "word < 0"})
    void aNegativeArgumentOfAFunctionNeedsACast(String text) {
        Scope functions = new SmallScope(Set.of());
        assertThatThrownBy(() -> GeneratedFunction.predicate(Expression.parse(text), functions, new Tables()))
                .hasMessageContaining("(int)… or (s64)…");
        for (String cast : List.of("(int)", "(s64)")) {
            GeneratedFunction.predicate(Expression.parse(text.replace("word", cast + "word")), functions, new Tables());
        }
        // C's largest number, which is what the second one says.
        GeneratedFunction.predicate(
                Expression.parse("(u64)word == -1 || word == 0xffffffffffffffff"), functions, new Tables());
    }

    @Test
    void returnsHaveAValue() {
        Scope returns = new SmallScope(Set.of(1, 2));
        assertThat(GeneratedFunction.value(Expression.parse("retval"), returns, new Tables())
                        .outputs()
                        .getFirst()
                        .type())
                .isEqualTo(ValueType.Int.REGISTER);
    }

    @Test
    void aFloatingPointNumberIsWrittenAsItIs() {
        Output ratio = outputs(8, "ratio").outputs().getFirst();
        byte[] bytes = ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putDouble(1.5)
                .array();
        assertThat(ratio.decode(bytes, _ -> "", GROUPS)).isEqualTo(1.5);
        Output part = new Output("part", new ValueType.FloatingPoint(4), 0, 8, false);
        bytes = ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .putLong(Float.floatToRawIntBits(0.1f))
                .array();
        assertThat(part.decode(bytes, _ -> "", GROUPS)).isEqualTo(0.1);
    }

    @Test
    void outputsFitTheirLimit() {
        assertThatThrownBy(() -> outputs(16, "arg0", "query"))
                .hasMessage("needs 64 bytes, but only 8 of 16 are left; str(…, n) limits a text\n    query\n    ^");
        assertThat(outputs(16, "arg0", "str(query, 8)").outputs()).hasSize(2);
        assertThat(outputs(1024, "str(query, 1000)").outputs().getFirst().size())
                .isEqualTo(1000);
    }

    @Test
    void codeIsBounded() {
        String text = String.join(" && ", Collections.nCopies(140, "query != \"0123456789abcdefghijklmnopqrstuv\""));
        assertThatThrownBy(() -> predicate(text))
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining("needs more than 4096 instructions");
    }

    @Test
    void tablesAreSharedAndBounded() {
        Tables tables = new Tables();
        for (int i = 0; i < 16; i++) {
            GeneratedFunction.predicate(Expression.parse("query ~ \"a*\""), SCOPE, tables);
        }
        assertThat(tables.bytes()).hasSize(Tables.MAX_BYTES);
        assertThatThrownBy(() -> GeneratedFunction.predicate(Expression.parse("query ~ \"a*\""), SCOPE, tables))
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining("more than 32768 bytes of tables");
    }
}
