package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A map as an object defines it. <i>Immutable</i>; the {@code with…} methods return an edited copy, to change a map
 * before the object is loaded.
 *
 * <p>Tested by {@code MapReaderTest} and {@code ObjectSpecTest}.
 */
public sealed interface MapSpec permits MapSpecData {
    /** {@code BPF_F_NO_PREALLOC}: hash entries are allocated when needed. */
    int F_NO_PREALLOC = MapTraits.F_NO_PREALLOC;

    /** {@code BPF_F_NUMA_NODE}: allocated on the node in {@link #numaNode()}. */
    int F_NUMA_NODE = 1 << 2;

    /** {@code BPF_F_RDONLY_PROG}: programs may only read. */
    int F_RDONLY_PROG = 1 << 7;

    /** {@code BPF_F_MMAPABLE}: user space may map the values (Linux 5.5). */
    int F_MMAPABLE = MapTraits.F_MMAPABLE;

    /** {@code BPF_F_INNER_MAP}: an inner map whose size may differ from other inner maps (Linux 5.10). */
    int F_INNER_MAP = 1 << 12;

    /** {@code BPF_F_LINK}: a struct_ops map that a link attaches (Linux 6.4). The same bit says link in an anchor. */
    int F_LINK = 1 << 13;

    /**
     * A static value: the map or program of that name goes into slot {@code index}.
     *
     * @param index key of the slot
     * @param target name of a map, or of a program
     */
    record Slot(int index, String target) {}

    /**
     * An element that a new map has from the beginning.
     *
     * @param key in the machine's byte order
     * @param value in the machine's byte order; in maps per CPU, the values of all possible CPUs
     */
    @SuppressWarnings("ArrayRecordComponent") // copied by the accessors
    record Element(byte[] key, byte[] value) {
        public Element {
            key = key.clone();
            value = value.clone();
        }

        @Override
        public byte[] key() {
            return key.clone();
        }

        @Override
        public byte[] value() {
            return value.clone();
        }
    }

    /** Its name in the object: the variable's name, or the section's for global data. */
    String name();

    /** The kernel's number of the map type, which may be newer than {@link MapType}. */
    int typeNumber();

    /** Bytes per key. */
    int keySize();

    /** Bytes per value. */
    int valueSize();

    /** Maximum number of entries; for a ring buffer its size in bytes; 0 if the type fixes it. */
    int maxEntries();

    /** {@code BPF_F_*} of map creation. */
    int flags();

    /** The NUMA node to allocate on, if the flags include {@link #F_NUMA_NODE}. */
    int numaNode();

    /** {@code map_extra}, whose meaning depends on the type. */
    long extra();

    /** BTF type of the key in the object, 0 if unknown. */
    int keyTypeId();

    /** BTF type of the value in the object, 0 if unknown. */
    int valueTypeId();

    /** Whether the object requests {@code LIBBPF_PIN_BY_NAME}. */
    boolean pinByName();

    /** Whether it is created, or exists already ({@code BpfLoader.reuseMap}); if false, programs must not reach it. */
    boolean autocreate();

    /** The index of the network device that has the map (offload); 0 for none. */
    int ifindex();

    /** The definition of the inner maps; empty if it is not a map of maps, or its object does not define them. */
    Optional<MapSpec> inner();

    /** Static values of a map of maps or of programs. */
    List<Slot> slots();

    /** The elements that the map has from the beginning, if it is new: not if it is reused, or opened by its pin. */
    List<Element> contents();

    /** The only program that may use it: {@link #withExclusiveProgram}. */
    Optional<String> exclusiveProgram();

    /** The section of global data in this map; empty if it has none. An arena has it at its start. */
    Optional<DataSection> data();

    /** A map with this type and these sizes; everything else has default values. */
    static MapSpec of(String name, MapType type, int keySize, int valueSize, int maxEntries) {
        return new MapSpecData(name, type.number(), keySize, valueSize, maxEntries, 0, 0, 0, Optional.empty());
    }

    /** The type, if this version of bpf4j knows it. */
    default Optional<MapType> type() {
        return MapType.of(typeNumber());
    }

    default boolean is(MapType type) {
        return typeNumber() == type.number();
    }

    /**
     * Whether this map exists for global variables of the object. An arena is not such a map, although it may hold
     * some.
     */
    default boolean isData() {
        return data().isPresent() && !is(MapType.ARENA);
    }

    default MapSpec withMaxEntries(int newMaxEntries) {
        return with("maxEntries", newMaxEntries);
    }

    /**
     * With another key or value size. The BTF type of a changed key or value no longer matches, and is dropped.
     *
     * <p>A map of global data can have another value size if its last variable is an array, which then has more or
     * fewer elements: {@code loader.map(".data.samples", map -> map.withSizes(4, 4096))}. New elements are 0.
     *
     * @throws InvalidObjectException if a map of global data would get another key size, or become too small for its
     *     last variable
     */
    default MapSpec withSizes(int newKeySize, int newValueSize) {
        if (isData() && newKeySize != keySize()) {
            throw new InvalidObjectException("map \"" + name() + "\" of global data has keys of 4 bytes");
        }
        MapSpec sized = with("keySize", newKeySize).with("valueSize", newValueSize);
        if (newKeySize != keySize()) {
            sized = sized.with("keyTypeId", 0);
        }
        if (newValueSize != valueSize()) {
            sized = isData()
                    ? sized.with("data", data().map(section -> section.resized(newValueSize)))
                    : sized.with("valueTypeId", 0);
        }
        return sized;
    }

    /**
     * With the C types of its keys and values: ids in the object's BTF, {@code ObjectSpec.withBtf}. A value with a
     * {@code struct bpf_spin_lock} needs its type, and so do maps of local storage. A map of {@code Maps.create} has no
     * types.
     *
     * @param newKeyTypeId 0 for none
     * @param newValueTypeId 0 for none
     */
    default MapSpec withTypes(int newKeyTypeId, int newValueTypeId) {
        return with("keyTypeId", newKeyTypeId).with("valueTypeId", newValueTypeId);
    }

    /** With other static values, or none: the initial contents of a map of maps or of programs. */
    default MapSpec withSlots(List<Slot> newSlots) {
        return with("slots", newSlots);
    }

    /**
     * With elements that the map has before a program is loaded. A map that is reused, or opened by its pin, does not
     * get them. They replace those of an earlier call. Maps of maps and of programs have {@link #withSlots}.
     *
     * @throws IllegalArgumentException if a value does not fit its C type
     */
    default <K, V> MapSpec withContents(Codec<K> keys, Codec<V> values, Map<? extends K, ? extends V> elements) {
        List<Element> encoded = new ArrayList<>();
        elements.forEach((key, value) -> {
            byte[] keyBytes = new byte[(int) keys.size()];
            keys.encode(key, MemorySegment.ofArray(keyBytes), 0);
            byte[] valueBytes = new byte[(int) values.size()];
            values.encode(value, MemorySegment.ofArray(valueBytes), 0);
            encoded.add(new Element(keyBytes, valueBytes));
        });
        return with("contents", encoded);
    }

    default MapSpec withFlags(int newFlags) {
        return with("flags", newFlags);
    }

    /** Allocated on a NUMA node; also sets {@code BPF_F_NUMA_NODE} (Linux 4.14). */
    default MapSpec withNumaNode(int node) {
        return with("numaNode", node).with("flags", flags() | F_NUMA_NODE);
    }

    /** With another {@code map_extra}: the address of an arena, or the number of hash functions of a bloom filter. */
    default MapSpec withExtra(long newExtra) {
        return with("extra", newExtra);
    }

    default MapSpec withType(int newTypeNumber) {
        return with("typeNumber", newTypeNumber);
    }

    /** A map of maps with another definition of its inner maps. */
    default MapSpec withInner(MapSpec template) {
        return with("inner", Optional.of(template));
    }

    /**
     * With or without pinning by name, as the object's {@code LIBBPF_PIN_BY_NAME} requests: pinned under its name, or
     * reused from there.
     */
    default MapSpec withPinByName(boolean pin) {
        return with("pinByName", pin);
    }

    /**
     * Created or left out, for instance because this kernel lacks the map type. The verifier refuses a program that can
     * reach a map that is left out. So a constant in {@code .rodata} must keep the program from using it, or the
     * program must be left out too.
     */
    default MapSpec withAutocreate(boolean create) {
        return with("autocreate", create);
    }

    /**
     * In a network device, for programs that run there (offload, Linux 4.16).
     *
     * @param index as {@code NetworkInterface.getIndex()} returns it
     */
    default MapSpec withIfindex(int index) {
        return with("ifindex", index);
    }

    /**
     * Makes the map exclusive to one program of the object (Linux 6.18, commit baefdbdf6812): the verifier refuses every
     * other program that refers to the map, also one of another object to which the map is passed. The kernel knows the
     * program by the SHA-256 of its instructions, without the numbers of descriptors of maps; so a copy of the program
     * may use the map, too. User space may still read and write it.
     *
     * <p>The load fails if the object has no such program or leaves it out, or if the hash is not known before the
     * load: {@code BpfLoader.instructions} edits the program, or it refers to a variable of a kernel module. Only maps
     * that are made together with their object can be for a program; inner maps and {@code Maps.create} refuse it.
     *
     * @param program its name
     */
    default MapSpec withExclusiveProgram(String program) {
        return with("exclusiveProgram", Optional.of(program));
    }

    private MapSpec with(String component, Object value) {
        return RecordCopy.with(this, MapSpecData.class, component, value);
    }
}
