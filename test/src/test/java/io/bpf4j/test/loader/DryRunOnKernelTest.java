package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.internal.plan.MapAttributes;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** "Does not fit" is certain: the kernel takes nothing of which a dry run says so. */
@Requires({Requirement.BPF, Requirement.KERNEL_BTF})
@ExtendWith(LeakCheck.class)
@Timeout(600)
class DryRunOnKernelTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20260104);
    private static final int MAPS = 5_000;

    private static final int[] SIZES = {0, 1, 4, 5, 8, 12, 16, 24, 264};
    private static final int[] ENTRIES = {0, 1, 2, 4096};
    private static final int[] FLAGS = {0, 0, 0, MapSpec.F_NO_PREALLOC, MapSpec.F_MMAPABLE};

    @Test
    void whatLoadsFits() {
        int loaded = 0;
        for (String name : Stream.concat(TestObjects.names().stream(), TestObjects.corpus().stream())
                // Its map would stay pinned, and the programs of verdicts are there to be refused at length.
                .filter(name -> !name.equals("pinned.bpf.o") && !name.equals("verdicts.bpf.o"))
                .toList()) {
            ObjectSpec spec = Bpf.spec(name);
            Fit fit = DryRun.ofKernel(spec, Host.running());
            if (loads(spec)) {
                loaded++;
                assertThat(fit.fits()).as(() -> name + ": " + fit.findings()).isTrue();
            }
        }
        assertThat(loaded).isPositive();
    }

    private static boolean loads(ObjectSpec spec) {
        try (BpfObject object = BpfLoader.of(spec).load()) {
            return object.spec() != null;
        } catch (BpfException e) {
            return false;
        }
    }

    @Test
    void whatNoKernelMakesThisKernelDoesNotMake() {
        Random random = new Random(SEED);
        MapType[] types = MapType.values();
        int made = 0;
        int refused = 0;
        for (int i = 0; i < MAPS; i++) {
            MapType type = types[random.nextInt(types.length)];
            MapSpec spec = MapSpec.of(
                            "m",
                            type,
                            SIZES[random.nextInt(SIZES.length)],
                            SIZES[random.nextInt(SIZES.length)],
                            ENTRIES[random.nextInt(ENTRIES.length)])
                    .withFlags(FLAGS[random.nextInt(FLAGS.length)]);
            if (random.nextBoolean()) {
                spec = spec.withInner(MapSpec.of("inner", MapType.ARRAY, 4, SIZES[random.nextInt(2)], 1));
            }
            if (isMade(spec)) {
                made++;
                assertThat(MapAttributes.refusal(spec))
                        .as(
                                "%s, key %d, value %d, entries %d, flags %d",
                                type, spec.keySize(), spec.valueSize(), spec.maxEntries(), spec.flags())
                        .isEmpty();
            } else if (MapAttributes.refusal(spec).isPresent()) {
                refused++;
            }
        }
        assertThat(made).isPositive();
        assertThat(refused).isPositive();
    }

    private static boolean isMade(MapSpec spec) {
        try (BpfMap map = Maps.create(spec)) {
            return map.id() != 0;
        } catch (BpfException e) {
            return false;
        }
    }
}
