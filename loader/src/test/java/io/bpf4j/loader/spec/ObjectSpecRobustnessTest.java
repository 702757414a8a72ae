package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.test.objects.TestObjects;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Broken objects: cut short anywhere, or with a bit turned over anywhere. */
class ObjectSpecRobustnessTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20260101);

    @ParameterizedTest
    @ValueSource(strings = {"globals.bpf.o", "maps.bpf.o", "kconfig.bpf.o", "calls.bpf.o", "forms.bpf.o"})
    void cutShort(String name) {
        byte[] whole = TestObjects.bytes(name);
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
    @ValueSource(
            strings = {"globals.bpf.o", "maps.bpf.o", "kconfig.bpf.o", "calls.bpf.o", "trace.bpf.o", "forms.bpf.o"})
    void aBitTurnedOver(String name) {
        byte[] bytes = TestObjects.bytes(name);
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

    @Test
    void sectionsThatShareTheirBytesAreNotMultiplied() {
        byte[] bytes = TestObjects.bytes("globals.bpf.o");
        int patched = 0;
        for (int header : sectionHeaders(bytes)) {
            ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            // Progbits that are allocated and no code: global data. Each now claims the whole file.
            if (file.getInt(header + 4) == 1 && (file.getLong(header + 8) & 6) == 2) {
                file.putLong(header + 24, 0).putLong(header + 32, bytes.length);
                patched++;
            }
        }
        assertThat(patched).isGreaterThan(2);
        assertThatThrownBy(() -> ObjectSpec.parse("globals.bpf.o", bytes))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("overlaps");
    }

    @Test
    void aSizeThatNoBytesBackCostsNothing() {
        byte[] bytes = TestObjects.bytes("globals.bpf.o");
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int header : sectionHeaders(bytes)) {
            if (file.getInt(header + 4) == 8) {
                file.putLong(header + 32, 1L << 30);
            }
        }
        DataSection bss = ObjectSpec.parse("globals.bpf.o", bytes)
                .findMap(".bss")
                .flatMap(MapSpec::data)
                .orElseThrow();
        assertThat(bss.size()).isEqualTo(1 << 30);
        assertThat(bss.content()).isEmpty();

        for (int header : sectionHeaders(bytes)) {
            if (file.getInt(header + 4) == 8) {
                file.putLong(header + 32, 1L << 32);
            }
        }
        assertThatThrownBy(() -> ObjectSpec.parse("globals.bpf.o", bytes))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining(".bss");
    }

    /** Where the entries of the section table are: e_shoff at 40, e_shnum at 60, 64 bytes each. */
    private static int[] sectionHeaders(byte[] bytes) {
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int first = (int) file.getLong(40);
        return IntStream.range(0, file.getShort(60)).map(i -> first + 64 * i).toArray();
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
