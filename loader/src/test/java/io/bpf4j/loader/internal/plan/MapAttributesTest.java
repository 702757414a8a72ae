package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.MapType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What no kernel takes. {@code MapKindsOnKernelTest} asks the running one. */
class MapAttributesTest {
    private static final MapSpec INNER = MapSpec.of("inner", MapType.ARRAY, 4, 8, 1);

    @ParameterizedTest
    @EnumSource
    void theSmallestMapOfEachTypeIsNotRefused(MapType type) {
        MapTraits row = MapTraits.of(type);
        MapSpec map = MapSpec.of(
                        "m",
                        type,
                        row.keys().small(),
                        row.values().small(),
                        row.entries().small())
                .withFlags(row.flags());
        boolean needsTypes = type.name().matches("(SK|INODE|TASK|CGRP)_STORAGE");
        boolean holdsMaps = type.name().endsWith("_OF_MAPS");
        assertThat(MapAttributes.refusal(holdsMaps ? map.withInner(INNER) : map).orElse(""))
                .isEqualTo(
                        needsTypes
                                ? "lacks the types of its keys and values (__type), which maps of its type require"
                                : "");
    }

    @ParameterizedTest
    @CsvSource({
        "HASH, 4, 8, 0, 0, 'has max_entries 0: set it in the object'",
        "ARRAY, 8, 8, 1, 0, 'has a key of 8 bytes, but maps of its type take 4 bytes'",
        "HASH, 0, 8, 1, 0, 'has a key of 0 bytes, but maps of its type take 1 bytes or more'",
        "PROG_ARRAY, 4, 8, 1, 0, 'has a value of 8 bytes, but maps of its type take 4 bytes'",
        "SOCKHASH, 4, 6, 1, 0, 'has a value of 6 bytes, but maps of its type take 4 to 8 bytes in multiples of 4'",
        "STACK_TRACE, 4, 12, 1, 0, 'has a value of 12 bytes, but maps of its type take 8 bytes or more in multiples'",
        "QUEUE, 4, 8, 1, 0, 'has a key of 4 bytes, but maps of its type take none'",
        "RINGBUF, 0, 0, 0, 0, 'has size 0; set its max_entries, in bytes'",
        "RINGBUF, 0, 4, 4096, 0, 'has a value of 4 bytes, but maps of its type take none'",
        "ARENA, 0, 0, 2000000, 1024, 'has 2000000 pages, more than the 4 GiB'",
        "ARENA, 0, 0, 1, 0, 'lacks BPF_F_MMAPABLE'",
        "LPM_TRIE, 8, 8, 1, 0, 'lacks BPF_F_NO_PREALLOC'",
        "LRU_HASH, 4, 8, 1, 1, 'has BPF_F_NO_PREALLOC'",
        "TASK_STORAGE, 4, 4, 1, 1, 'has max_entries 1, but a TASK_STORAGE map takes 0'",
        "ARRAY_OF_MAPS, 4, 4, 1, 0, 'does not define its inner maps'"
    })
    void theReasonIsTold(MapType type, int keySize, int valueSize, int maxEntries, int flags, String reason) {
        MapSpec map = MapSpec.of("m", type, keySize, valueSize, maxEntries).withFlags(flags);
        assertThat(MapAttributes.refusal(map))
                .hasValueSatisfying(text -> assertThat(text).startsWith(reason));
    }

    @Test
    void aMapOfMapsIsRefusedForTheMapsInIt() {
        MapSpec outer = MapSpec.of("outer", MapType.ARRAY_OF_MAPS, 4, 4, 1)
                .withInner(MapSpec.of("inner", MapType.ARRAY, 4, 0, 1));
        assertThat(MapAttributes.refusal(outer))
                .contains("defines inner maps by a map that has a value of 0 bytes,"
                        + " but maps of its type take 1 bytes or more");
    }

    @Test
    void aPerfEventArrayWithoutEntriesGetsThemWhenItIsLoaded() {
        assertThat(MapAttributes.refusal(MapSpec.of("events", MapType.PERF_EVENT_ARRAY, 4, 4, 0)))
                .isEmpty();
    }
}
