package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.kernel.MapType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A map as an object defines it. <i>Immutable</i>; the {@code with…} methods give an edited copy, which is how an
 * embedder changes a map before the object is loaded.
 *
 * @param name as in the object: the variable's name, or the section's for global data
 * @param typeNumber the kernel's number of the map type, which may be newer than {@link MapType}
 * @param keySize bytes per key
 * @param valueSize bytes per value
 * @param maxEntries entries at most; of a ring buffer its size in bytes; 0 where the type fixes it
 * @param flags {@code BPF_F_*} of map creation
 * @param numaNode node to allocate on, where the flags say so
 * @param extra {@code map_extra}, whose meaning depends on the type
 * @param keyTypeId BTF type of the key in the object, 0 if unknown
 * @param valueTypeId BTF type of the value in the object, 0 if unknown
 * @param pinByName whether the object asks for {@code LIBBPF_PIN_BY_NAME}
 * @param inner what the maps in this map look like, for a map of maps
 * @param slots static values of a map of maps or of programs
 * @param data the section of global data that this map carries, for one that does; an arena has it at its start
 */
public record MapSpec(
        String name,
        int typeNumber,
        int keySize,
        int valueSize,
        int maxEntries,
        int flags,
        int numaNode,
        long extra,
        int keyTypeId,
        int valueTypeId,
        boolean pinByName,
        @Nullable MapSpec inner,
        List<Slot> slots,
        @Nullable DataSection data) {

    /** {@code BPF_F_NO_PREALLOC}: hash entries are allocated when needed. */
    public static final int F_NO_PREALLOC = 1;

    /** {@code BPF_F_RDONLY_PROG}: programs may only read. */
    public static final int F_RDONLY_PROG = 1 << 7;

    /** {@code BPF_F_MMAPABLE}: user space may map the values (Linux 5.5). */
    public static final int F_MMAPABLE = 1 << 10;

    /** {@code BPF_F_INNER_MAP}: as an inner map its size may differ from its siblings' (Linux 5.10). */
    public static final int F_INNER_MAP = 1 << 12;

    /** {@code BPF_F_LINK}: a struct_ops map that a link attaches (Linux 6.4). */
    public static final int F_LINK = 1 << 13;

    /**
     * A static value: the map or program of that name goes into slot {@code index}.
     *
     * @param index key of the slot
     * @param target name of a map, or of a program
     */
    public record Slot(int index, String target) {}

    public MapSpec {
        slots = List.copyOf(slots);
    }

    /** A map of a type with sizes; everything else as small as can be. */
    public static MapSpec of(String name, MapType type, int keySize, int valueSize, int maxEntries) {
        return new MapSpec(
                name, type.number(), keySize, valueSize, maxEntries, 0, 0, 0, 0, 0, false, null, List.of(), null);
    }

    /** The type, if this version of bpf4j has a name for it. */
    public Optional<MapType> type() {
        return MapType.of(typeNumber);
    }

    public boolean is(MapType type) {
        return typeNumber == type.number();
    }

    /** Whether this map is there for global variables of the object: an arena may carry some, too, and is no such map. */
    public boolean isData() {
        return data != null && !is(MapType.ARENA);
    }

    /** The same map with global variables in it. */
    MapSpec withData(DataSection section) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                slots,
                section);
    }

    public MapSpec withMaxEntries(int newMaxEntries) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                newMaxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                slots,
                data);
    }

    /**
     * With another key or value size. The BTF type of what changes would contradict it, and is dropped.
     *
     * <p>A map of global data can have another value size if its last variable is an array, which then has more elements or
     * fewer: {@code loader.map(".data.samples", map -> map.withSizes(4, 4096))}. New ones are 0.
     *
     * @throws InvalidObjectException if a map of global data is to have other keys, or no room for its last variable
     */
    public MapSpec withSizes(int newKeySize, int newValueSize) {
        DataSection resized = data;
        if (data != null && isData()) {
            if (newKeySize != keySize) {
                throw new InvalidObjectException("map \"" + name + "\" of global data has keys of 4 bytes");
            }
            if (newValueSize != valueSize) {
                resized = data.resized(newValueSize);
            }
        }
        return new MapSpec(
                name,
                typeNumber,
                newKeySize,
                newValueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                newKeySize == keySize ? keyTypeId : 0,
                newValueSize == valueSize || isData() ? valueTypeId : 0,
                pinByName,
                inner,
                slots,
                resized);
    }

    /** With other static values, or none: what a map of maps or of programs holds from the start. */
    public MapSpec withSlots(List<Slot> newSlots) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                newSlots,
                data);
    }

    public MapSpec withFlags(int newFlags) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                newFlags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                slots,
                data);
    }

    /** With another {@code map_extra}: the address of an arena, or the number of hash functions of a bloom filter. */
    public MapSpec withExtra(long newExtra) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                newExtra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                slots,
                data);
    }

    public MapSpec withType(int newTypeNumber) {
        return new MapSpec(
                name,
                newTypeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                inner,
                slots,
                data);
    }

    /** A map of maps with another template of its inner maps. */
    public MapSpec withInner(MapSpec template) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pinByName,
                template,
                slots,
                data);
    }

    /** Pinned under its name, or found there, as the object's {@code LIBBPF_PIN_BY_NAME} asks for; or not. */
    public MapSpec withPinByName(boolean pin) {
        return new MapSpec(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                numaNode,
                extra,
                keyTypeId,
                valueTypeId,
                pin,
                inner,
                slots,
                data);
    }
}
