package io.bpf4j.loader.internal.map;

import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;

/**
 * The properties in which two maps must be equal for one to replace the other. <i>Immutable.</i>
 *
 * <p>Tested by {@code PinningTest} and {@code ProgramsInMapsOnKernelTest}.
 */
public record MapShape(int type, int keySize, int valueSize, int maxEntries, int flags, long extra) {
    /** The properties of an existing map. */
    public static MapShape of(MapInfo info) {
        return new MapShape(
                info.typeNumber(), info.keySize(), info.valueSize(), info.maxEntries(), info.flags(), info.extra());
    }

    /** Without some flags. */
    public MapShape without(int flag) {
        return new MapShape(type, keySize, valueSize, maxEntries, flags & ~flag, extra);
    }

    /** {@code HASH, key 4 B, value 8 B, max_entries 10, flags 0x1}. */
    @Override
    public String toString() {
        return MapType.of(type).map(Enum::name).orElse("type " + type) + ", key " + Integer.toUnsignedString(keySize)
                + " B, value " + Integer.toUnsignedString(valueSize) + " B, max_entries "
                + Integer.toUnsignedString(maxEntries) + ", flags 0x" + Integer.toHexString(flags)
                + (extra == 0 ? "" : ", map_extra 0x" + Long.toHexString(extra));
    }
}
