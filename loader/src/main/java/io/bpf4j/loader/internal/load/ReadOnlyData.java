package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The {@code .rodata} of an object as the verifier sees it: frozen, and so constant. Maps are known by their index in the
 * object plus 1. <i>Confined.</i>
 */
final class ReadOnlyData implements Reachability.Constants {
    private final List<@Nullable ByteBuffer> contents = new ArrayList<>();
    private int kconfig;

    ReadOnlyData(ObjectSpec spec) {
        contents.add(null);
        for (MapSpec map : spec.maps()) {
            DataSection data = map.data();
            boolean isKconfig = data != null && data.name().equals(DataSection.KCONFIG);
            if (isKconfig) {
                kconfig = contents.size();
            }
            contents.add(
                    data == null || !data.readOnly() || isKconfig
                            ? null
                            : ByteBuffer.wrap(data.initial()).order(spec.order()));
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
