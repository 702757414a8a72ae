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
import io.bpf4j.trace.expression.Expression;
import io.bpf4j.trace.expression.GeneratedFunction;
import io.bpf4j.trace.expression.Tables;
import io.bpf4j.usdt.RunSeed;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Generated functions give in the kernel what C says, or -1 if something can't be read. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(600)
class ExpressionsOnKernelTest {
    private static final int LOADS = 250;
    private static final int EVENTS = 12;
    private static final int SHOWN = 1024;

    private final ObjectSpec spec = Bpf.spec("expressions.bpf.o");

    /** A thousand expressions, four in each load: a filter, a value, a key and a value that is shown. */
    @Test
    void anyExpressionHasTheValueThatCSays() {
        Random random = RunSeed.random();
        SampleExpressions samples = new SampleExpressions(random);
        int read = 0;
        try (Arena arena = Arena.ofConfined()) {
            SampleMemory memory = new SampleMemory(arena);
            for (int load = 0; load < LOADS; load++) {
                List<SampleExpressions.Number> numbers =
                        random.ints(4, 0, 6).mapToObj(samples::number).toList();
                List<String> texts =
                        numbers.stream().map(SampleExpressions.Number::text).toList();
                try (BpfObject object = load(texts.get(0), texts.get(1), texts.get(2), texts.get(3))) {
                    for (int i = 0; i < EVENTS; i++) {
                        SampleEvent event = SampleEvent.random(random, memory);
                        run(object, event);
                        for (int n = 0; n < numbers.size(); n++) {
                            OptionalLong expected = expected(numbers.get(n), event, n == 0);
                            assertThat(result(object, n)).as(() -> event + "\n" + texts).isEqualTo(expected);
                            read += expected.isPresent() ? 1 : 0;
                        }
                    }
                }
            }
        }
        assertThat(read).isGreaterThan(LOADS * EVENTS);
    }

    private static OptionalLong expected(SampleExpressions.Number number, SampleEvent event, boolean filter) {
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
