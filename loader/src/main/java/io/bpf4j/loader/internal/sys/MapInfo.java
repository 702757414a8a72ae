package io.bpf4j.loader.internal.sys;

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
        long extra) {}
