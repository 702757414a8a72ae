package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.map.MapInfo;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Combines the kernel's information about a map from two sources. */
final class MapFacts {
    private MapFacts() {}

    /**
     * The public record.
     *
     * @param fdInfo lines of /proc/self/fdinfo, by name
     */
    static MapInfo of(io.bpf4j.loader.internal.sys.MapInfo info, Map<String, String> fdInfo) {
        String memory = fdInfo.getOrDefault("memlock", "");
        String frozen = fdInfo.getOrDefault("frozen", "");
        return new MapInfo(
                info.id(),
                info.name(),
                info.type(),
                info.keySize(),
                info.valueSize(),
                info.maxEntries(),
                info.flags(),
                info.extra(),
                info.ifindex(),
                info.btfId(),
                info.keyTypeId(),
                info.valueTypeId(),
                memory.matches("\\d{1,18}") ? OptionalLong.of(Long.parseLong(memory)) : OptionalLong.empty(),
                frozen.isEmpty() ? Optional.empty() : Optional.of(!frozen.equals("0")));
    }
}
