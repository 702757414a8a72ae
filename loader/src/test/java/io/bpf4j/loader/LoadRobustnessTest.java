package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Broken objects that read all the same go on to the load: whatever is wrong with them comes out as an exception of the
 * loader's own, and nothing stays open. The kernel behind it says yes to everything, so that none is saved by it.
 */
@Timeout(120)
class LoadRobustnessTest {
    private static final long SEED = 20260102;

    private static final Features OLD = Features.of(feature -> feature == Feature.GLOBAL_DATA || feature == Feature.BTF
            ? Support.yes("scripted")
            : Support.no("scripted"));

    @ParameterizedTest
    @CsvSource({
        "globals.bpf.o, 1000",
        "maps.bpf.o, 1000",
        "calls.bpf.o, 1000",
        "linkage.bpf.o, 1000",
        "legacy.bpf.o, 1000",
        "pinned.bpf.o, 1000",
        "trace.bpf.o, 1000",
        "args12.bpf.o, 1000",
        // These two look into /proc each time.
        "kconfig.bpf.o, 200",
        "forms.bpf.o, 200",
    })
    void aBitTurnedOver(String name, int rounds) {
        byte[] bytes = BpfObjects.bytes(name);
        Random random = new Random(SEED);
        int loaded = 0;
        for (int round = 0; round < rounds; round++) {
            int at = random.nextInt(bytes.length);
            byte before = bytes[at];
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            if (loads(name, bytes, round % 2 == 0 ? ScriptedLoads.everything() : OLD)) {
                loaded++;
            }
            bytes[at] = before;
        }
        assertThat(loaded).isBetween(rounds / 10, rounds);
    }

    @ParameterizedTest
    @CsvSource({"globals.bpf.o", "maps.bpf.o", "linkage.bpf.o", "legacy.bpf.o"})
    void severalBytesChanged(String name) {
        byte[] whole = BpfObjects.bytes(name);
        Random random = new Random(SEED);
        int refused = 0;
        for (int round = 0; round < 1000; round++) {
            byte[] bytes = whole.clone();
            for (int i = 0; i < 8; i++) {
                // Numbers of 0, of all ones and of sign alone are the likeliest to be taken for another thing.
                bytes[random.nextInt(bytes.length)] = (byte) new int[] {0, -1, 0x80, random.nextInt()}[i & 3];
            }
            if (!loads(name, bytes, ScriptedLoads.everything())) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"globals.bpf.o", "maps.bpf.o", "linkage.bpf.o"})
    void cutShort(String name) {
        byte[] whole = BpfObjects.bytes(name);
        for (int length = whole.length - 1; length > whole.length / 2; length -= 7) {
            loads(name, Arrays.copyOf(whole, length), ScriptedLoads.everything());
        }
    }

    /** Whether it loads; anything but the loader's own exceptions fails the test, and so does whatever stays open. */
    private static boolean loads(String name, byte[] bytes, Features features) {
        ScriptedKernel kernel = new ScriptedKernel();
        boolean loaded = false;
        try {
            ObjectSpec spec = ObjectSpec.parse(name, bytes);
            try (BpfObject object =
                    ScriptedLoads.loader(kernel, spec).features(features).load()) {
                loaded = object.spec() != null;
            } catch (MalformedDataException | BpfException e) {
                assertThat(e.getMessage()).isNotBlank();
            }
        } catch (MalformedDataException | InvalidObjectException e) {
            assertThat(e.getMessage()).contains(name);
        }
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
        return loaded;
    }
}
