package io.bpf4j.trace.internal.expression;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.trace.expression.ExpressionException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What holds of every text, whoever wrote it. */
class ExpressionPropertiesTest {
    private static final String SEED_OF_PROPERTIES = "20261122";

    /** Mixed into jqwik's, which is a constant of the annotation. */
    private static final long SEED = Long.getLong("bpf4j.test.seed", 0);

    private static final List<String> WORDS = List.of(
            "arg0",
            "pointer",
            "query",
            "comm",
            "moved",
            "full",
            "probe",
            "provider",
            "once",
            "nsecs",
            "pid",
            "retval",
            "true",
            "str(",
            "str(pointer",
            ", 3",
            "(u8)",
            "(s64)",
            "*(u16*)",
            "*",
            "-",
            "~",
            "!",
            "+",
            "/",
            "%",
            "<<",
            ">>",
            "<",
            ">=",
            "==",
            "!=",
            "!~",
            "&",
            "^",
            "|",
            "&&",
            "||",
            "?",
            ":",
            "(",
            ")",
            ",",
            "\"a*\"",
            "\"[!x]?\"",
            "\"SELECT\"",
            "'x'",
            "0",
            "1",
            "64",
            "0xffffffffffffffff",
            "9223372036854775808",
            "1.5ms",
            "4KiB",
            " ");

    private static final List<String> OPERANDS =
            List.of("arg0", "pointer", "moved", "7", "nsecs", "*(u32*)pointer", "(query ~ \"a*\")", "(comm == \"x\")");

    private static final List<String> OPERATORS =
            List.of("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "==", "&&", "||");

    @Property(tries = 20_000, seed = SEED_OF_PROPERTIES)
    void everyTextIsReadOrHasAReason(@ForAll("texts") String text) {
        try {
            assertThat(Expression.parse(text).text()).isEqualTo(text);
        } catch (ExpressionException e) {
            assertReason(e, text);
        }
    }

    @Property(tries = 20_000, seed = SEED_OF_PROPERTIES)
    void everyTextIsCompiledOrHasAReason(@ForAll("texts") String text) {
        try {
            Expression expression = Expression.parse(text);
            assertSound(
                    GeneratedFunction.outputs(List.of(expression), new SmallScope(Set.of(1, 2)), new Tables(), 160));
            assertSound(GeneratedFunction.predicate(expression, new SmallScope(Set.of(1, 2)), new Tables()));
        } catch (ExpressionException e) {
            assertReason(e, text);
        }
    }

    @Property(tries = 2_000, seed = SEED_OF_PROPERTIES)
    void everyTreeOfNumbersIsCompiled(@ForAll("trees") String text) {
        Expression expression = Expression.parse(text);
        try {
            assertSound(GeneratedFunction.predicate(expression, new SmallScope(Set.of(1, 2)), new Tables()));
            assertSound(GeneratedFunction.value(expression, new SmallScope(Set.of(1, 2)), new Tables()));
        } catch (ExpressionException e) {
            assertThat(e.reason()).as(text).containsAnyOf("true, because", "is never negative");
        }
    }

    private static void assertReason(ExpressionException e, String text) {
        assertThat(e.reason()).isNotBlank().doesNotContain("\n").hasSizeLessThan(8_400);
        assertThat(e.position()).isBetween(0, text.length());
        assertThat(String.valueOf(e.getMessage()).lines()).hasSize(3);
    }

    /** Jumps stay inside, each instruction can be reached, the stack is not larger than it may be. */
    private static void assertSound(GeneratedFunction function) {
        List<Instruction> code = function.instructions();
        boolean[] reached = new boolean[code.size()];
        reach(code, 0, reached);
        for (int i = 0; i < reached.length; i++) {
            assertThat(reached[i]).as("instruction %d of %s", i, code).isTrue();
        }
        assertThat(code).allMatch(i -> i.src() != 10 || i.opClass() == Opcodes.ALU64 || i.offset() >= -Code.MAX_STACK);
    }

    private static void reach(List<Instruction> code, int from, boolean[] reached) {
        int at = from;
        while (!reached[at]) {
            reached[at] = true;
            Instruction instruction = code.get(at);
            if (instruction.isLoadImm64()) {
                reached[++at] = true;
            }
            boolean jumps = instruction.opClass() == Opcodes.JMP && !instruction.isCall();
            if (jumps && instruction.opcode() == (Opcodes.JMP | Opcodes.EXIT)) {
                return;
            }
            if (jumps && instruction.opcode() != (Opcodes.JMP | Opcodes.JA)) {
                reach(code, at + 1 + instruction.offset(), reached);
            }
            at += 1 + (instruction.opcode() == (Opcodes.JMP | Opcodes.JA) ? instruction.offset() : 0);
        }
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.randomValue(random -> text(new Random(random.nextLong() ^ SEED)));
    }

    @Provide
    Arbitrary<String> trees() {
        return Arbitraries.randomValue(random -> tree(new Random(random.nextLong() ^ SEED), 7));
    }

    /** Words of the language in any order, sometimes with a character from anywhere. */
    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(12); i >= 0; i--) {
            text.append(
                    random.nextInt(20) == 0
                            ? String.valueOf((char) random.nextInt(random.nextBoolean() ? 128 : 0x10000))
                            : WORDS.get(random.nextInt(WORDS.size())));
        }
        return text.toString();
    }

    private static String tree(Random random, int depth) {
        if (depth == 0 || random.nextInt(6) == 0) {
            return OPERANDS.get(random.nextInt(OPERANDS.size() - (depth > 2 ? 0 : 2)));
        }
        return "(" + tree(random, depth - 1) + OPERATORS.get(random.nextInt(OPERATORS.size())) + tree(random, depth - 1)
                + ")";
    }
}
