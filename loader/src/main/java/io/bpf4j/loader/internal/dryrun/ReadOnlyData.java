package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.MapPlan;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The {@code .rodata} of an object as the verifier sees it: frozen, and therefore constant. <i>Confined.</i>
 *
 * <p>Tested by {@code DryRunTest}.
 *
 * @param contents by the number of the map, its index in the object plus 1, as loads of its address have it
 * @param kconfig the number of the map with the options of kconfig; 0 if the object has no such map
 */
record ReadOnlyData(Map<Integer, ByteBuffer> contents, int kconfig) {
    static ReadOnlyData of(LoadPlan plan) {
        Map<String, Integer> numbers = new HashMap<>();
        for (MapSpec map : plan.spec().maps()) {
            numbers.put(map.name(), numbers.size() + 1);
        }
        Map<Integer, ByteBuffer> contents = new HashMap<>();
        for (MapPlan map : plan.maps()) {
            byte[] bytes = map.initial();
            if (map.frozen() && bytes != null) {
                contents.put(
                        numbers.get(map.name()),
                        ByteBuffer.wrap(bytes).order(plan.spec().order()));
            }
        }
        return new ReadOnlyData(contents, numbers.getOrDefault(DataSection.KCONFIG, 0));
    }

    /**
     * A value.
     *
     * @param map the first immediate of the load
     * @param bytes 1, 2, 4 or 8
     * @return empty if that map may change
     */
    OptionalLong read(int map, long offset, int bytes) {
        ByteBuffer content = contents.get(map);
        if (content == null || offset < 0 || offset > content.capacity() - bytes) {
            return OptionalLong.empty();
        }
        int at = (int) offset;
        return OptionalLong.of(
                switch (bytes) {
                    case 1 -> content.get(at);
                    case 2 -> content.getShort(at);
                    case 4 -> content.getInt(at);
                    default -> content.getLong(at);
                });
    }

    /** Whether a map holds the options of kconfig. */
    boolean isKconfig(int map) {
        return map != 0 && map == kconfig;
    }
}
