package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.MapTraits.Sizes;
import io.bpf4j.sys.internal.call.MapTraits.Trait;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Maps of each type with the smallest and the largest key, value and number of entries, and those beyond: the kernel
 * makes the map, or it is said what is wrong with it. So the table {@link MapTraits} refuses nothing that the kernel
 * takes, and explains what it does not take.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class MapLimitsOnKernelTest {
    private static final long MAX = 0xffff_ffffL;

    /** What this kernel alone refuses: sizes for which it has no room, or none in its structures. */
    private static final Set<Errno> LIMITS = EnumSet.of(Errno.E2BIG, Errno.EINVAL, Errno.ENOMEM, Errno.EPERM);

    /** Made by {@code bpf_struct_ops} alone, from a type of the kernel. */
    private static final Set<MapType> OF_OBJECTS = EnumSet.of(MapType.STRUCT_OPS);

    @ParameterizedTest
    @EnumSource(MapType.class)
    void aMapIsMadeOrItIsSaidWhyNot(MapType type) {
        MapTraits row = MapTraits.of(type);
        int key = row.keys().small();
        int value = row.values().small();
        int some = row.entries().small();
        boolean there =
                Features.of(Host.running()).has(type) && !row.has(Trait.NEEDS_BTF) && !OF_OBJECTS.contains(type);
        if (there) {
            Maps.create(map(type, key, value, some)).close();
        }
        for (long size : sizes(row.keys())) {
            tried(
                    map(type, (int) size, value, some),
                    there,
                    row.keys().allows((int) size),
                    "a key of " + size + " bytes");
        }
        for (long size : sizes(row.values())) {
            tried(
                    map(type, key, (int) size, some),
                    there,
                    row.values().allows((int) size),
                    "a value of " + size + " bytes");
        }
        for (int entries : new int[] {0, 1}) {
            boolean allowed = switch (row.entries()) {
                case SOME, PAGES, BYTES -> entries > 0;
                case OPTIONAL -> true;
                case NO -> entries == 0;
            };
            tried(map(type, key, value, entries), there, allowed, "max_entries");
        }
        // More is refused before any memory is taken.
        if (row.entries() == MapTraits.Entries.PAGES) {
            tried(map(type, key, value, (1 << 20) + 1), there, false, "more than the 4 GiB");
        }
    }

    private static MapSpec map(MapType type, int key, int value, int entries) {
        MapTraits row = MapTraits.of(type);
        MapSpec spec = MapSpec.of("limits", type, key, value, entries).withFlags(row.flags());
        return row.has(Trait.HOLDS_MAPS) ? spec.withInner(MapSpec.of("inner", MapType.ARRAY, 4, 4, 1)) : spec;
    }

    private static Set<Long> sizes(Sizes allowed) {
        Set<Long> sizes = new TreeSet<>();
        LongStream.of(
                        0,
                        allowed.min() - 1,
                        allowed.min(),
                        allowed.min() + 1,
                        allowed.small(),
                        allowed.max() - 1,
                        allowed.max(),
                        allowed.max() + 1)
                .filter(size -> size >= 0 && size <= MAX)
                .forEach(sizes::add);
        return sizes;
    }

    /**
     * Tries to make a map.
     *
     * @param there whether this kernel has the type, and gives a map of it that belongs to no object
     * @param allowed whether some kernel may make it, by the table
     * @param part what is said of it if none does
     */
    private static void tried(MapSpec spec, boolean there, boolean allowed, String part) {
        try (BpfMap made = Maps.create(spec)) {
            assertThat(allowed)
                    .as("the table says that no kernel makes %s, but this one does", spec)
                    .isTrue();
            assertThat(made.maxEntries()).isNotNegative();
        } catch (Bpf4jException e) {
            String what = spec + ": " + e.getMessage();
            if (!allowed && there) {
                assertThat(e)
                        .as(what)
                        .isInstanceOf(InvalidObjectException.class)
                        .hasMessageContaining(part);
            } else if (there) {
                assertThat(e)
                        .as(what)
                        .isInstanceOfSatisfying(
                                SyscallException.class,
                                failure -> assertThat(failure.errno()).isIn(LIMITS));
            } else {
                assertThat(e.getMessage()).as(what).isNotBlank();
            }
        }
    }
}
