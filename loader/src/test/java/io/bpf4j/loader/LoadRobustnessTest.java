package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.objects.TestObjects;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Broken objects that read all the same go on to the load: whatever is wrong with them comes out as an exception of the
 * loader's own, and nothing stays open. The kernel behind it says yes to everything, so that none is saved by it.
 */
@ExtendWith(ProcessorTimeLimit.class)
class LoadRobustnessTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20260102);

    private static final Features OLD = Features.of(feature -> feature == Feature.GLOBAL_DATA || feature == Feature.BTF
            ? new Support.Present("scripted")
            : new Support.Absent("scripted"));

    @ParameterizedTest
    @CsvSource({
        "globals.bpf.o, 500",
        "maps.bpf.o, 500",
        "calls.bpf.o, 500",
        "linkage.bpf.o, 500",
        "legacy.bpf.o, 500",
        "pinned.bpf.o, 500",
        "trace.bpf.o, 500",
        "args12.bpf.o, 500",
        // These two look into /proc each time.
        "kconfig.bpf.o, 50",
        "forms.bpf.o, 50",
    })
    void aBitTurnedOver(String name, int rounds) {
        byte[] bytes = TestObjects.bytes(name);
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

    /**
     * All objects, changed where it matters: symbols, relocations, BTF, section headers. Half of what changes is a
     * number as small as true ones are, which gets further than others.
     */
    @Test
    void tablesWithOtherNumbers() {
        List<String> names = TestObjects.names().stream()
                .filter(name -> !name.matches(".*(kconfig|forms|extern|_be).*"))
                .toList();
        Random random = new Random(SEED);
        int loaded = 0;
        int rounds = 6_000;
        for (int round = 0; round < rounds; round++) {
            String name = names.get(round % names.size());
            byte[] bytes = TestObjects.bytes(name);
            ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            List<long[]> tables = tables(file);
            for (int change = 0; change <= random.nextInt(3); change++) {
                long[] table = tables.get(random.nextInt(tables.size()));
                int at = (int) (table[0] + random.nextInt((int) table[1]));
                switch (random.nextInt(4)) {
                    case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                    case 1 -> bytes[at] = -1;
                    default -> file.putInt(Math.min(at & -4, bytes.length - 4), random.nextInt(64));
                }
            }
            if (loads(name, bytes, ScriptedLoads.everything())) {
                loaded++;
            }
        }
        assertThat(loaded).isBetween(rounds / 10, rounds * 9 / 10);
    }

    /** Where the section table is, and every section of symbols, relocations and BTF: offset and size. */
    private static List<long[]> tables(ByteBuffer file) {
        long first = file.getLong(40);
        int count = file.getShort(60);
        List<long[]> tables = new ArrayList<>();
        tables.add(new long[] {first, count * 64L});
        for (int i = 1; i < count; i++) {
            int header = (int) first + 64 * i;
            boolean allocated = (file.getLong(header + 8) & Section.SHF_ALLOC) != 0;
            boolean table = switch (file.getInt(header + 4)) {
                case Section.SHT_SYMTAB, Section.SHT_REL -> true;
                case Section.SHT_PROGBITS -> !allocated;
                default -> false;
            };
            if (table && file.getLong(header + 32) != 0) {
                tables.add(new long[] {file.getLong(header + 24), file.getLong(header + 32)});
            }
        }
        return tables;
    }

    /** At every eighth byte, from nothing to all but the last. */
    @ParameterizedTest
    @CsvSource({"globals.bpf.o", "maps.bpf.o", "linkage.bpf.o", "calls.bpf.o"})
    void cutShort(String name) {
        byte[] whole = TestObjects.bytes(name);
        for (int length = 0; length < whole.length; length += 8) {
            loads(name, Arrays.copyOf(whole, length), ScriptedLoads.everything());
        }
    }

    /**
     * Objects of the other byte order don't load here; but they are read, and tried against types of their own order.
     */
    @Test
    void objectsOfTheOtherByteOrder() {
        String name = "core.bpf.o";
        boolean isLittle = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        byte[] whole = TestObjects.bytes(name, isLittle ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        for (int length = 0; length < whole.length; length += 8) {
            tried(name, Arrays.copyOf(whole, length));
        }
        Random random = new Random(SEED);
        byte[] bytes = whole.clone();
        int fits = 0;
        for (int round = 0; round < 1_000; round++) {
            int at = random.nextInt(bytes.length);
            byte before = bytes[at];
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            if (tried(name, bytes)) {
                fits++;
            }
            bytes[at] = before;
        }
        assertThat(fits).isBetween(100, 1_000);
    }

    /** All objects against their own types, changed: a dry run ends in findings, or in the loader's own exceptions. */
    @Test
    void dryRunsOfChangedObjects() {
        List<String> names = TestObjects.names().stream().toList();
        Random random = new Random(SEED);
        int fits = 0;
        int rounds = 3_000;
        for (int round = 0; round < rounds; round++) {
            String name = names.get(round % names.size());
            byte[] bytes = TestObjects.bytes(name);
            for (int change = 0; change <= random.nextInt(3); change++) {
                int at = random.nextInt(bytes.length);
                bytes[at] = (byte) (random.nextBoolean() ? bytes[at] ^ 1 << random.nextInt(8) : random.nextInt(16));
            }
            if (tried(name, bytes)) {
                fits++;
            }
        }
        assertThat(fits).isBetween(rounds / 10, rounds);
    }

    /** Whether it is read and tried; its own types are those of the kernel. */
    private static boolean tried(String name, byte[] bytes) {
        try {
            ObjectSpec spec = ObjectSpec.parse(name, bytes);
            if (spec.btf().isPresent()) {
                assertThat(DryRun.of(spec, spec.btf().get()).programs()).hasSameSizeAs(spec.programs());
            }
            return true;
        } catch (MalformedDataException | BpfException e) {
            assertThat(e.getMessage()).contains(name);
            return false;
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
