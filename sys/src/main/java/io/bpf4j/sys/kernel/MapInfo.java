package io.bpf4j.sys.kernel;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The kernel's information about a map ({@code struct bpf_map_info} and /proc/self/fdinfo). <i>Immutable.</i>
 *
 * @param id the kernel's id of the map, not reused while the machine is up
 * @param name as stored in the kernel, at most 15 bytes; empty before Linux 4.15
 * @param typeNumber the kernel's number of the type
 * @param keySize bytes of a key
 * @param valueSize bytes of a value, for one CPU in per-CPU maps
 * @param maxEntries maximum number of elements; for ring buffers their size in bytes
 * @param flags the kernel's {@code BPF_F_*} flags of creation
 * @param extra {@code map_extra}: hash functions of a bloom filter, address of an arena (Linux 5.16)
 * @param interfaceIndex network device that the map is offloaded to; 0 for none
 * @param btfId the kernel's id of the BTF that describes keys and values; 0 for none (Linux 4.18)
 * @param keyTypeId type of the keys in that BTF; 0 for none
 * @param valueTypeId type of the values in that BTF; 0 for none
 * @param kernelBtfId the kernel's id of the BTF, its own or a module's, that describes the values of a struct_ops map
 *     (Linux 6.9); 0 for none
 * @param kernelValueTypeId type of the values of a struct_ops map in that BTF; 0 for none (Linux 5.6)
 * @param memoryBytes memory of the map: current use since Linux 6.4, an estimate before; empty without /proc
 * @param frozen whether user space can no longer write (Linux 5.2); empty if the kernel does not report it
 * @param programType the kernel's number of the type of programs that a map of programs takes: the type of the first
 *     program that used it or was put into it; empty before, for other maps, and without /proc
 */
public record MapInfo(
        int id,
        String name,
        int typeNumber,
        int keySize,
        int valueSize,
        int maxEntries,
        int flags,
        long extra,
        int interfaceIndex,
        int btfId,
        int keyTypeId,
        int valueTypeId,
        int kernelBtfId,
        int kernelValueTypeId,
        OptionalLong memoryBytes,
        Optional<Boolean> frozen,
        OptionalInt programType) {}
