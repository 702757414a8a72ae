package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.Tables;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Generated functions give in the kernel what C says, or -1 if something can't be read. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(1800) // for what hangs: a thousand functions take the verifier half a minute on an idle machine
class ExpressionsOnKernelTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20261122);
    private static final int LOADS = 250;
    private static final int EVENTS = 12;
    private static final int SHOWN = 1024;

    private final ObjectSpec spec = Bpf.spec("expressions.bpf.o");

    /** A thousand expressions, four in each load: a filter, a value, a key and a value that is shown. */
    @Test
    void anyExpressionHasTheValueThatCSays() {
        Random random = new Random(SEED);
        SampleExpressions samples = new SampleExpressions(random);
        int read = 0;
        try (Arena arena = Arena.ofConfined()) {
            SampleMemory memory = new SampleMemory(arena);
            int refused = 0;
            for (int load = 0; load < LOADS; load++) {
                List<SampleExpressions.Sample> numbers =
                        random.ints(4, 0, 6).mapToObj(samples::number).toList();
                List<String> texts =
                        numbers.stream().map(SampleExpressions.Sample::text).toList();
                try (BpfObject object = load(texts.get(0), texts.get(1), texts.get(2), texts.get(3))) {
                    for (int i = 0; i < EVENTS; i++) {
                        SampleEvent event = SampleEvent.random(random, memory);
                        run(object, event);
                        for (int n = 0; n < numbers.size(); n++) {
                            OptionalLong expected = expected(numbers.get(n), event, n == 0);
                            assertThat(result(object, n))
                                    .as(() -> event + "\n" + texts)
                                    .isEqualTo(expected);
                            read += expected.isPresent() ? 1 : 0;
                        }
                    }
                } catch (ExpressionException e) {
                    // A comparison that the types decide: see Limits.
                    assertThat(e.reason()).containsAnyOf("true, because", "is never negative");
                    refused++;
                    load--;
                }
            }
            assertThat(refused).isLessThan(LOADS);
        }
        assertThat(read).isGreaterThan(LOADS * EVENTS);
    }

    @Test
    void outputsLieOneBehindTheOther() {
        String text = "SELECT * FROM t WHERE x = 'y'";
        try (Arena arena = Arena.ofConfined()) {
            SampleMemory memory = new SampleMemory(arena);
            long address = memory.address(text);
            MemorySegment object = arena.allocate(16, 8);
            object.set(ValueLayout.JAVA_LONG, 8, address);
            SampleEvent event = new SampleEvent(
                    memory,
                    new long[] {
                        7, 0x101, 0, 0, 0, 0, 0, -1, address, address, object.address(), memory.address("x".repeat(64))
                    },
                    0,
                    4L | 7L << 32,
                    0,
                    -2,
                    11,
                    12,
                    13,
                    14,
                    0,
                    "fifteen-letters");
            assertThat(shown(event, "query", "className", "inner", "str(query, 3)", "str(query, 8)"))
                    .containsExactly(text, "SELECT ", text, "SEL", "SELECT *");
            assertThat(shown(
                            event, "str(arg11)", "str(arg11, 63)", "str(arg11, 65)", "str(arg11 + 1)", "str(arg11, 1)"))
                    .containsExactly("x".repeat(64), "x".repeat(63), "x".repeat(64), "x".repeat(63), "x");
            assertThat(shown(event, "str(arg11, arg0)", "str(arg11, -arg0)", "str(arg11, arg7)", "str(arg11, arg7, 9)"))
                    .containsExactly("x".repeat(7), "", "x".repeat(64), "x".repeat(9));
            assertThat(shown(event, "comm", "probe", "provider", "retval", "pid", "tid", "uid", "cpu"))
                    .containsExactly(
                            "fifteen-letters",
                            "jvm:end",
                            "jvm",
                            new BigInteger("18446744073709551614"),
                            11L,
                            12L,
                            13L,
                            14L);
            assertThat(shown(
                            event,
                            "flag",
                            "arg0 > 5 ? \"big\" : \"little\"",
                            "probe == \"jvm:end\"",
                            "provider ~ \"d*\""))
                    .containsExactly(true, "big", true, false);
            assertThat(shown(event, "query ~ \"*x = '?'\"", "arg7", "(s64)arg7", "str(query, 300)"))
                    .containsExactly(true, new BigInteger("18446744073709551615"), -1L, text);
            assertThat(shown(event, "arg0 == 7 ? comm : query", "str(arg8, arg0 + 1, 900)"))
                    .containsExactly("fifteen-letters", "SELECT *");
        }
    }

    /** The values of a record that is shown, as they are read. */
    private List<Object> shown(SampleEvent event, String... expressions) {
        Tables tables = new Tables();
        SampleScope scope = new SampleScope();
        GeneratedFunction show = GeneratedFunction.outputs(
                Arrays.stream(expressions).map(Expression::parse).toList(), scope, tables, SHOWN);
        GeneratedFunction none = GeneratedFunction.outputs(List.of(), scope, tables, 0);
        try (BpfObject object = load(none, none, none, show, tables)) {
            run(object, event);
            assertThat(Bpf.u32(object, "show_result")).isZero();
            byte[] bytes = object.global("shown").bytes();
            return show.outputs().stream()
                    .map(output -> output.decode(bytes, scope.probes()::get, (_, id) -> Long.toString(id)))
                    .toList();
        }
    }

    /** What costs the verifier the most: patterns, texts and values that wait, as many as are allowed. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "patterns",
                "literals",
                "texts",
                "names",
                "waiting",
                "sum",
                "choices",
                "weights",
                "thresholds",
            })
    void theLargestFunctionsAreAccepted(String kind) {
        String text = switch (kind) {
            case "patterns" -> repeated("query !~ \"" + "?*".repeat(63) + "\"", " && ", 15);
            case "literals" -> repeated("str(query, 120) != \"" + "x".repeat(120) + "\"", " || ", 25);
            case "texts" -> repeated("query == className", " || ", 30);
            case "names" -> repeated("comm ~ \"*a*\"", " || ", 15);
            case "waiting" -> balanced(7);
            case "sum" -> repeated("arg0", " + ", 500);
            case "choices" -> repeated("(arg0 > 3 ? mixed : *(u32*)arg8)", " ^ ", 60);
            case "weights" ->
                IntStream.range(0, 60)
                                .mapToObj(n -> "(*(u8*)(arg8 + " + n + ") > 9) << " + n)
                                .collect(Collectors.joining(" | "))
                        + " == 77";
            case "thresholds" ->
                IntStream.range(0, 60)
                                .mapToObj(n -> "(arg" + (n % 5 + 7) + " > " + n * 37 % 60 + ") << " + n)
                                .collect(Collectors.joining(" | "))
                        + " == 77";
            default -> throw new AssertionError(kind);
        };
        Tables tables = new Tables();
        GeneratedFunction where = GeneratedFunction.predicate(Expression.parse(text), new SampleScope(), tables);
        GeneratedFunction none = GeneratedFunction.outputs(List.of(), new SampleScope(), tables, 0);
        try (BpfObject object = load(where, none, none, none, tables)) {
            assertThat(object.program("evaluate").info().verifiedInstructions())
                    .as("of a million")
                    .isLessThan(300_000);
        }
    }

    private static String repeated(String text, String operator, int times) {
        return String.join(operator, Collections.nCopies(times, text));
    }

    private static String balanced(int depth) {
        return depth == 0 ? "*(u64*)(arg8 + 1)" : "(" + balanced(depth - 1) + " - " + balanced(depth - 1) + ")";
    }

    private static OptionalLong expected(SampleExpressions.Sample number, SampleEvent event, boolean filter) {
        try {
            long value = number.value().applyAsLong(event);
            return OptionalLong.of(filter && value != 0 ? 1 : value);
        } catch (SampleEvent.Unreadable e) {
            return OptionalLong.empty();
        }
    }

    /** The value that a function computed; empty if it could not read something. */
    private static OptionalLong result(BpfObject object, int function) {
        int returned = Bpf.u32(object, List.of("where", "value", "keys", "show").get(function) + "_result");
        assertThat(returned).isBetween(-1, function == 0 ? 1 : 0);
        if (returned == -1) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(
                switch (function) {
                    case 0 -> returned;
                    case 1 -> Bpf.u64(object, "value");
                    case 2 -> Bpf.global(object, "keys").getLong();
                    default -> Bpf.global(object, "shown").getLong();
                });
    }

    private static void run(BpfObject object, SampleEvent event) {
        object.global("event").set(event.bytes());
        Program program = object.program("evaluate");
        assertThat(program.test(TestRun.onContext(new byte[16])).returned()).isZero();
    }

    /** An object with these functions: a filter, which gives 0 or 1; a value, a key, and a value that is shown. */
    private BpfObject load(String where, String value, String key, String shown) {
        Tables tables = new Tables();
        SampleScope scope = new SampleScope();
        return load(
                GeneratedFunction.predicate(Expression.parse(where), scope, tables),
                GeneratedFunction.value(Expression.parse(value), scope, tables),
                GeneratedFunction.outputs(List.of(Expression.parse(key)), scope, tables, 160),
                GeneratedFunction.outputs(List.of(Expression.parse(shown)), scope, tables, SHOWN),
                tables);
    }

    private BpfObject load(
            GeneratedFunction where,
            GeneratedFunction value,
            GeneratedFunction keys,
            GeneratedFunction show,
            Tables tables) {
        return BpfLoader.of(spec)
                .global("tables", Arrays.copyOf(tables.bytes(), Tables.MAX_BYTES))
                .function("generated_where", f -> f.withInstructions(where.instructions()))
                .function("generated_value", f -> f.withInstructions(value.instructions()))
                .function("generated_keys", f -> f.withInstructions(keys.instructions()))
                .function("generated_show", f -> f.withInstructions(show.instructions()))
                .load();
    }
}
