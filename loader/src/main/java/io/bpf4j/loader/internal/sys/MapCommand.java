package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that create and access maps. */
public sealed interface MapCommand<R> extends Command<R> {
    /**
     * BPF_MAP_CREATE. Start from {@link #of} and set the other fields.
     *
     * @param type the kernel's number of the map type, which may be one that {@code MapType} does not know
     * @param name the name in the kernel, cut to 15 bytes; empty for kernels before 4.15
     * @param ifindex network device that the map is offloaded to; 0 for none
     * @param inner the template of a map-in-map's values
     * @param btf the BTF that describes key and value
     * @param keyTypeId id in {@code btf}; 0 for none
     * @param valueTypeId id in {@code btf}; 0 for none
     * @param kernelValueTypeId id in the kernel's BTF, or a module's, for struct_ops
     * @param kernelValueBtf the BTF of that module, for a module's type (Linux 6.9)
     * @param extra {@code map_extra}: hash functions of a bloom filter, address of an arena
     */
    record Create(
            int type,
            String name,
            int keySize,
            int valueSize,
            int maxEntries,
            int flags,
            int numaNode,
            int ifindex,
            @Nullable Fd inner,
            @Nullable Fd btf,
            int keyTypeId,
            int valueTypeId,
            int kernelValueTypeId,
            @Nullable Fd kernelValueBtf,
            long extra)
            implements MapCommand<Fd> {

        public static Create of(int type, String name, int keySize, int valueSize, int maxEntries) {
            return new Create(type, name, keySize, valueSize, maxEntries, 0, 0, 0, null, null, 0, 0, 0, null, 0);
        }

        public Create withName(String newName) {
            return with(draft -> draft.name = newName);
        }

        public Create withFlags(int newFlags) {
            return with(draft -> draft.flags = newFlags);
        }

        public Create withNumaNode(int node) {
            return with(draft -> draft.numaNode = node);
        }

        /** Offloads the map to the network device with that index. */
        public Create withIfindex(int index) {
            return with(draft -> draft.ifindex = index);
        }

        public Create withInner(@Nullable Fd template) {
            return with(draft -> draft.inner = template);
        }

        public Create withBtf(@Nullable Fd newBtf, int newKeyTypeId, int newValueTypeId) {
            return with(draft -> {
                draft.btf = newBtf;
                draft.keyTypeId = newKeyTypeId;
                draft.valueTypeId = newValueTypeId;
            });
        }

        /** A type of the kernel, or of the module whose BTF that is. */
        public Create withKernelValueType(int id, @Nullable Fd module) {
            return with(draft -> {
                draft.kernelValueTypeId = id;
                draft.kernelValueBtf = module;
            });
        }

        public Create withExtra(long newExtra) {
            return with(draft -> draft.extra = newExtra);
        }

        private Create with(Consumer<Draft> change) {
            Draft draft = new Draft(this);
            change.accept(draft);
            return draft.done();
        }

        @Override
        public String call() {
            // No name for a kernel without names, or if the probe lacks permission.
            return name.isEmpty() ? "bpf(BPF_MAP_CREATE)" : "bpf(BPF_MAP_CREATE) for map \"" + name + "\"";
        }

        @Override
        public List<Fd> fds() {
            return Stream.of(inner, btf, kernelValueBtf)
                    .flatMap(Stream::ofNullable)
                    .toList();
        }

        /** A builder of the command. */
        private static final class Draft {
            private final Create original;
            private String name;
            private int flags;
            private int numaNode;
            private int ifindex;
            private @Nullable Fd inner;
            private @Nullable Fd btf;
            private int keyTypeId;
            private int valueTypeId;
            private int kernelValueTypeId;
            private @Nullable Fd kernelValueBtf;
            private long extra;

            Draft(Create original) {
                this.original = original;
                name = original.name;
                flags = original.flags;
                numaNode = original.numaNode;
                ifindex = original.ifindex;
                inner = original.inner;
                btf = original.btf;
                keyTypeId = original.keyTypeId;
                valueTypeId = original.valueTypeId;
                kernelValueTypeId = original.kernelValueTypeId;
                kernelValueBtf = original.kernelValueBtf;
                extra = original.extra;
            }

            Create done() {
                return new Create(
                        original.type,
                        name,
                        original.keySize,
                        original.valueSize,
                        original.maxEntries,
                        flags,
                        numaNode,
                        ifindex,
                        inner,
                        btf,
                        keyTypeId,
                        valueTypeId,
                        kernelValueTypeId,
                        kernelValueBtf,
                        extra);
            }
        }
    }

    /** Operations on one element; the number is the command of bpf(2). */
    enum Op {
        LOOKUP(1, "BPF_MAP_LOOKUP_ELEM"),
        UPDATE(2, "BPF_MAP_UPDATE_ELEM"),
        DELETE(3, "BPF_MAP_DELETE_ELEM"),
        /** The kernel writes the next key to the value; a NULL key requests the first key. */
        NEXT_KEY(4, "BPF_MAP_GET_NEXT_KEY"),
        LOOKUP_AND_DELETE(21, "BPF_MAP_LOOKUP_AND_DELETE_ELEM");

        private final int number;
        private final String kernelName;

        Op(int number, String kernelName) {
            this.number = number;
            this.kernelName = kernelName;
        }

        public int number() {
            return number;
        }

        public String kernelName() {
            return kernelName;
        }
    }

    /**
     * One element of a map. Returns 0 or the error number, because ENOENT and EEXIST are results, not failures.
     *
     * @param key native memory, or {@link MemorySegment#NULL} where the operation takes none
     * @param value native memory, or {@link MemorySegment#NULL} where the operation takes none
     */
    record Element(Op op, Fd map, MemorySegment key, MemorySegment value, long flags) implements MapCommand<Integer> {
        @Override
        public String call() {
            return "bpf(" + op.kernelName + ") on " + map.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(map);
        }
    }

    /** Operations on many elements at once; the number is the command of bpf(2). */
    enum BatchOp {
        LOOKUP(24, "BPF_MAP_LOOKUP_BATCH"),
        LOOKUP_AND_DELETE(25, "BPF_MAP_LOOKUP_AND_DELETE_BATCH"),
        UPDATE(26, "BPF_MAP_UPDATE_BATCH"),
        DELETE(27, "BPF_MAP_DELETE_BATCH");

        private final int number;
        private final String kernelName;

        BatchOp(int number, String kernelName) {
            this.number = number;
            this.kernelName = kernelName;
        }

        public int number() {
            return number;
        }

        public String kernelName() {
            return kernelName;
        }
    }

    /**
     * Many elements at once. All segments are native, or {@link MemorySegment#NULL} where the operation takes none.
     *
     * @param position where an iteration continues, from the last call; NULL to begin
     * @param nextPosition where the kernel writes the position to continue from
     * @param count room for elements, or elements given
     */
    record Batch(
            BatchOp op,
            Fd map,
            MemorySegment position,
            MemorySegment nextPosition,
            MemorySegment keys,
            MemorySegment values,
            int count,
            long elementFlags)
            implements MapCommand<BatchResult> {
        @Override
        public String call() {
            return "bpf(" + op.kernelName + ") on " + map.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(map);
        }
    }

    /**
     * The progress of a batch. ENOENT after a lookup means that the iteration is complete, with {@code count} elements
     * in this last step.
     *
     * @param errno 0 or the error number
     * @param count processed elements
     */
    record BatchResult(int errno, int count) {}

    /** BPF_MAP_FREEZE: no more writes from user space. */
    record Freeze(Fd map) implements MapCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_MAP_FREEZE) on " + map.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(map);
        }
    }
}
