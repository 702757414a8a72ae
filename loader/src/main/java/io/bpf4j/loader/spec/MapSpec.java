package io.bpf4j.loader.spec;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.kernel.MapType;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A map as an object defines it. <i>Immutable</i>; the {@code with…} methods return an edited copy, to change a map
 * before the object is loaded.
 *
 * @param name as in the object: the variable's name, or the section's for global data
 * @param typeNumber the kernel's number of the map type, which may be newer than {@link MapType}
 * @param keySize bytes per key
 * @param valueSize bytes per value
 * @param maxEntries maximum number of entries; for a ring buffer its size in bytes; 0 if the type fixes it
 * @param flags {@code BPF_F_*} of map creation
 * @param numaNode NUMA node to allocate on, if the flags include {@link #F_NUMA_NODE}
 * @param extra {@code map_extra}, whose meaning depends on the type
 * @param keyTypeId BTF type of the key in the object, 0 if unknown
 * @param valueTypeId BTF type of the value in the object, 0 if unknown
 * @param pinByName whether the object asks for {@code LIBBPF_PIN_BY_NAME}
 * @param autocreate whether it is created, or exists already ({@code BpfLoader.reuseMap}); if false, programs must not
 *     reach it
 * @param ifindex index of the network device that has the map (offload); 0 for none
 * @param inner definition of the inner maps, for a map of maps
 * @param slots static values of a map of maps or of programs
 * @param data the section of global data in this map, if any; an arena has it at its start
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
        boolean autocreate,
        int ifindex,
        @Nullable MapSpec inner,
        List<Slot> slots,
        @Nullable DataSection data) {

    /** {@code BPF_F_NO_PREALLOC}: hash entries are allocated when needed. */
    public static final int F_NO_PREALLOC = 1;

    /** {@code BPF_F_NUMA_NODE}: allocated on the node in {@link #numaNode()}. */
    public static final int F_NUMA_NODE = 1 << 2;

    /** {@code BPF_F_RDONLY_PROG}: programs may only read. */
    public static final int F_RDONLY_PROG = 1 << 7;

    /** {@code BPF_F_MMAPABLE}: user space may map the values (Linux 5.5). */
    public static final int F_MMAPABLE = 1 << 10;

    /** {@code BPF_F_INNER_MAP}: an inner map whose size may differ from other inner maps (Linux 5.10). */
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

    /** A map as objects can define it: it is created, and not offloaded to a device. */
    public MapSpec(
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
        this(
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
                true,
                0,
                inner,
                slots,
                data);
    }

    /** A map with this type and these sizes; everything else has default values. */
    public static MapSpec of(String name, MapType type, int keySize, int valueSize, int maxEntries) {
        return new MapSpec(
                name, type.number(), keySize, valueSize, maxEntries, 0, 0, 0, 0, 0, false, null, List.of(), null);
    }

    /** The type, if this version of bpf4j knows it. */
    public Optional<MapType> type() {
        return MapType.of(typeNumber);
    }

    public boolean is(MapType type) {
        return typeNumber == type.number();
    }

    /**
     * Whether this map exists for global variables of the object. An arena is not such a map, although it may hold
     * some.
     */
    public boolean isData() {
        return data != null && !is(MapType.ARENA);
    }

    /** The same map with global variables in it. */
    MapSpec withData(DataSection section) {
        return with(draft -> draft.data = section);
    }

    public MapSpec withMaxEntries(int newMaxEntries) {
        return with(draft -> draft.maxEntries = newMaxEntries);
    }

    /**
     * With another key or value size. The BTF type of a changed key or value no longer matches, and is dropped.
     *
     * <p>A map of global data can have another value size if its last variable is an array, which then has more or
     * fewer elements: {@code loader.map(".data.samples", map -> map.withSizes(4, 4096))}. New elements are 0.
     *
     * @throws InvalidObjectException if a map of global data would get another key size, or no room for its last
     *     variable
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
        DataSection section = resized;
        return with(draft -> {
            draft.keySize = newKeySize;
            draft.valueSize = newValueSize;
            draft.keyTypeId = newKeySize == keySize ? keyTypeId : 0;
            draft.valueTypeId = newValueSize == valueSize || isData() ? valueTypeId : 0;
            draft.data = section;
        });
    }

    /** With other static values, or none: the initial contents of a map of maps or of programs. */
    public MapSpec withSlots(List<Slot> newSlots) {
        return with(draft -> draft.slots = newSlots);
    }

    public MapSpec withFlags(int newFlags) {
        return with(draft -> draft.flags = newFlags);
    }

    /** Allocated on a NUMA node; also sets {@code BPF_F_NUMA_NODE} (Linux 4.14). */
    public MapSpec withNumaNode(int node) {
        return with(draft -> {
            draft.numaNode = node;
            draft.flags |= F_NUMA_NODE;
        });
    }

    /** With another {@code map_extra}: the address of an arena, or the number of hash functions of a bloom filter. */
    public MapSpec withExtra(long newExtra) {
        return with(draft -> draft.extra = newExtra);
    }

    public MapSpec withType(int newTypeNumber) {
        return with(draft -> draft.typeNumber = newTypeNumber);
    }

    /** A map of maps with another definition of its inner maps. */
    public MapSpec withInner(MapSpec template) {
        return with(draft -> draft.inner = template);
    }

    /**
     * With or without pinning by name, as the object's {@code LIBBPF_PIN_BY_NAME} requests: pinned under its name, or
     * reused from there.
     */
    public MapSpec withPinByName(boolean pin) {
        return with(draft -> draft.pinByName = pin);
    }

    /**
     * Created or left out, for instance because this kernel lacks the map type. The verifier refuses a program that can
     * reach a map that is left out. So a constant in {@code .rodata} must keep the program from using it, or the
     * program must be left out too.
     */
    public MapSpec withAutocreate(boolean create) {
        return with(draft -> draft.autocreate = create);
    }

    /**
     * In a network device, for programs that run there (offload, Linux 4.16).
     *
     * @param index as {@code NetworkInterface.getIndex()} returns it
     */
    public MapSpec withIfindex(int index) {
        return with(draft -> draft.ifindex = index);
    }

    private MapSpec with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.done();
    }

    /** A definition being changed. */
    private static final class Draft {
        private final MapSpec original;
        private int typeNumber;
        private int keySize;
        private int valueSize;
        private int maxEntries;
        private int flags;
        private int numaNode;
        private long extra;
        private int keyTypeId;
        private int valueTypeId;
        private boolean pinByName;
        private boolean autocreate;
        private int ifindex;
        private @Nullable MapSpec inner;
        private List<Slot> slots;
        private @Nullable DataSection data;

        Draft(MapSpec original) {
            this.original = original;
            typeNumber = original.typeNumber;
            keySize = original.keySize;
            valueSize = original.valueSize;
            maxEntries = original.maxEntries;
            flags = original.flags;
            numaNode = original.numaNode;
            extra = original.extra;
            keyTypeId = original.keyTypeId;
            valueTypeId = original.valueTypeId;
            pinByName = original.pinByName;
            autocreate = original.autocreate;
            ifindex = original.ifindex;
            inner = original.inner;
            slots = original.slots;
            data = original.data;
        }

        MapSpec done() {
            return new MapSpec(
                    original.name,
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
                    autocreate,
                    ifindex,
                    inner,
                    slots,
                    data);
        }
    }
}
