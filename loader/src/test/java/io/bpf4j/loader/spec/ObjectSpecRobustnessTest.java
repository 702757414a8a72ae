package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.objects.BpfObjects;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Broken objects: cut short anywhere, or with a bit turned over anywhere. */
class ObjectSpecRobustnessTest {
    private static final long SEED = 20260101;

    @ParameterizedTest
    @ValueSource(strings = {"globals.bpf.o", "maps.bpf.o", "kconfig.bpf.o", "calls.bpf.o"})
    void cutShort(String name) {
        byte[] whole = BpfObjects.bytes(name);
        int refused = 0;
        int step = Math.max(1, whole.length / 1500);
        for (int length = 0; length < whole.length; length += step) {
            if (!reads(name, Arrays.copyOf(whole, length))) {
                refused++;
            }
        }
        // The section table stands at the end, so that nearly every cut is fatal.
        assertThat(refused).isGreaterThan(whole.length / step * 9 / 10);
    }

    @ParameterizedTest
    @ValueSource(strings = {"globals.bpf.o", "maps.bpf.o", "kconfig.bpf.o", "calls.bpf.o", "trace.bpf.o"})
    void aBitTurnedOver(String name) {
        byte[] bytes = BpfObjects.bytes(name);
        Random random = new Random(SEED);
        int read = 0;
        int rounds = 4000;
        for (int round = 0; round < rounds; round++) {
            int at = random.nextInt(bytes.length);
            byte before = bytes[at];
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            if (reads(name, bytes)) {
                read++;
            }
            bytes[at] = before;
        }
        // Most bits are code, names and lines, where another value is as good.
        assertThat(read).isBetween(rounds / 10, rounds);
    }

    /** Whether it reads; anything thrown but the two types for broken objects fails the test. */
    private static boolean reads(String name, byte[] bytes) {
        try {
            return ObjectSpec.parse(name, bytes).programs() != null;
        } catch (MalformedDataException | InvalidObjectException e) {
            assertThat(e.getMessage()).contains(name);
            return false;
        }
    }
}
