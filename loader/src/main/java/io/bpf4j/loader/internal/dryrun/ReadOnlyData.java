package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.MapPlan;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The {@code .rodata} of an object as the verifier sees it: frozen, and therefore constant. Maps are identified by
 * their index in the object plus 1. <i>Confined.</i>
 *
 * <p>Tested by {@code DryRunTest}.
 */
final class ReadOnlyData implements Reachability.Constants {
    private final List<@Nullable ByteBuffer> contents = new ArrayList<>();
    private int kconfig;

    ReadOnlyData(LoadPlan plan) {
        Map<String, byte[]> initial = new HashMap<>();
        for (MapPlan map : plan.maps()) {
            if (map.frozen() && map.initial() != null) {
                initial.put(map.name(), map.initial());
            }
        }
        contents.add(null);
        for (MapSpec map : plan.spec().maps()) {
            DataSection data = map.data();
            if (data != null && data.name().equals(DataSection.KCONFIG)) {
                kconfig = contents.size();
            }
            byte[] bytes = initial.get(map.name());
            contents.add(
                    bytes == null
                            ? null
                            : ByteBuffer.wrap(bytes).order(plan.spec().order()));
        }
    }

    @Override
    public OptionalLong read(int map, long offset, int bytes) {
        ByteBuffer content = map >= 0 && map < contents.size() ? contents.get(map) : null;
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

    @Override
    public boolean isKconfig(int map) {
        return map != 0 && map == kconfig;
    }
}
