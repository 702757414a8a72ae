package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that make maps and work on them. */
public sealed interface MapCommand<R> extends Command<R> {
    /**
     * BPF_MAP_CREATE. Start from {@link #of} and add what is needed.
     *
     * @param type the kernel's number of the map type, which may be one that {@code MapType} does not know
     * @param name what the kernel shows, cut to 15 bytes; empty for kernels before 4.15
     * @param ifindex network device that the map is moved to (offload); 0 for none
     * @param inner the template of a map-in-map's values
     * @param btf the BTF that describes key and value
     * @param keyTypeId id in {@code btf}; 0 for none
     * @param valueTypeId id in {@code btf}; 0 for none
     * @param kernelValueTypeId id in the kernel's BTF, or a module's, for struct_ops
     * @param kernelValueBtf the module's, if it is one (Linux 6.9)
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

        /** For the network device of that index, which the map is moved to. */
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
            // A kernel that takes no names, or tells us nothing for want of permission, gets none.
            return name.isEmpty() ? "bpf(BPF_MAP_CREATE)" : "bpf(BPF_MAP_CREATE) for map \"" + name + "\"";
        }

        @Override
        public List<Fd> fds() {
            return Stream.of(inner, btf, kernelValueBtf)
                    .flatMap(Stream::ofNullable)
                    .toList();
        }

        /** A command that is being put together. */
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

    /** What can be done with one element; the number is the command of bpf(2). */
    enum Op {
        LOOKUP(1, "BPF_MAP_LOOKUP_ELEM"),
        UPDATE(2, "BPF_MAP_UPDATE_ELEM"),
        DELETE(3, "BPF_MAP_DELETE_ELEM"),
        /** The value of this one is where the next key goes; a NULL key asks for the first. */
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
     * One element of a map. Gives 0 or the error number, since ENOENT and EEXIST are answers here, not failures.
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

    /** What can be done with many elements at once; the number is the command of bpf(2). */
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
     * @param position where a walk goes on, as the last call left it; NULL to begin
     * @param nextPosition where the kernel leaves the place to go on from
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
     * How far a batch came. ENOENT after a lookup means that the walk is at its end, with {@code count} elements in this
     * last step.
     *
     * @param errno 0 or the error number
     * @param count elements done
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
