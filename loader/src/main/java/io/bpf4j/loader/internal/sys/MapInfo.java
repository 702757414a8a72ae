package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;

/**
 * The kernel's information about a map ({@code struct bpf_map_info}). <i>Immutable.</i>
 *
 * @param type the kernel's number
 * @param id the kernel's id of the map, not reused until a reboot
 * @param btfId the kernel's id of the BTF of key and value; 0 for none
 */
public record MapInfo(
        int type,
        int id,
        int keySize,
        int valueSize,
        int maxEntries,
        int flags,
        String name,
        int ifindex,
        int btfId,
        int keyTypeId,
        int valueTypeId,
        long extra) {
    static final StructLayout LAYOUT = StructLayout.of("bpf_map_info", """
            u32 type, id, key_size, value_size, max_entries, map_flags;
            u8 name[16];
            u32 ifindex, btf_vmlinux_value_type_id;
            u64 netns_dev, netns_ino;
            u32 btf_id, btf_key_type_id, btf_value_type_id, btf_vmlinux_id;
            u64 map_extra;
            """);

    /** An older kernel leaves unknown fields 0. */
    static MapInfo read(MemorySegment info) {
        return new MapInfo(
                LAYOUT.u32(info, "type"),
                LAYOUT.u32(info, "id"),
                LAYOUT.u32(info, "key_size"),
                LAYOUT.u32(info, "value_size"),
                LAYOUT.u32(info, "max_entries"),
                LAYOUT.u32(info, "map_flags"),
                Struct.text(LAYOUT.slice(info, "name")),
                LAYOUT.u32(info, "ifindex"),
                LAYOUT.u32(info, "btf_id"),
                LAYOUT.u32(info, "btf_key_type_id"),
                LAYOUT.u32(info, "btf_value_type_id"),
                LAYOUT.u64(info, "map_extra"));
    }
}
