package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The commands of bpf(2) that create and access maps.
 *
 * <p>Tested by {@code AttrGoldenTest}.
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public sealed interface MapCommand<R> extends Command<R> {
    /**
     * BPF_MAP_CREATE.
     *
     * @param type the kernel's number of the map type, which may be one that {@code MapType} does not know
     * @param name the name in the kernel, truncated to 15 bytes; empty for kernels before 4.15
     * @param ifindex network device that the map is offloaded to; 0 for none
     * @param extra {@code map_extra}: hash functions of a bloom filter, address of an arena
     * @param inner the template of a map-in-map's values
     * @param programHash the SHA-256 of the only program that may use the map; empty for any program
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
            long extra,
            @Nullable Fd inner,
            ElementTypes types,
            byte[] programHash)
            implements MapCommand<Fd> {
        private static final byte[] ANY_PROGRAM = {};

        private static final StructLayout ATTR = StructLayout.of("bpf_attr", """
                u32 map_type, key_size, value_size, max_entries, map_flags, inner_map_fd, numa_node;
                u8 map_name[16];
                u32 map_ifindex, btf_fd, btf_key_type_id, btf_value_type_id, btf_vmlinux_value_type_id;
                u64 map_extra;
                u32 value_type_btf_obj_fd, map_token_fd;
                u64 excl_prog_hash;
                u32 excl_prog_hash_size;
                """);

        /** BPF_F_VTYPE_BTF_OBJ_FD: the BTF of the value's type is that of a module (fcc2c1fb0651). */
        private static final int VTYPE_BTF_OBJ_FD = 1 << 15;

        public static Create of(int type, String name, int keySize, int valueSize, int maxEntries) {
            return new Create(
                    type, name, keySize, valueSize, maxEntries, 0, 0, 0, 0, null, ElementTypes.NONE, ANY_PROGRAM);
        }

        public Create withFlags(int newFlags) {
            return with(newFlags, extra, inner, types, programHash);
        }

        public Create withExtra(long newExtra) {
            return with(flags, newExtra, inner, types, programHash);
        }

        public Create withInner(Fd template) {
            return with(flags, extra, template, types, programHash);
        }

        public Create withTypes(ElementTypes newTypes) {
            return with(flags, extra, inner, newTypes, programHash);
        }

        public Create withProgramHash(byte[] sha256) {
            return with(flags, extra, inner, types, sha256);
        }

        private Create with(int newFlags, long newExtra, @Nullable Fd newInner, ElementTypes newTypes, byte[] newHash) {
            return new Create(
                    type,
                    name,
                    keySize,
                    valueSize,
                    maxEntries,
                    newFlags,
                    numaNode,
                    ifindex,
                    newExtra,
                    newInner,
                    newTypes,
                    newHash);
        }

        @Override
        public Fd run(Call call) {
            return call.fd(call.bpfWithMemlock(BpfCommand.MAP_CREATE, encode(call)), "map \"" + name + "\"");
        }

        private MemorySegment encode(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "map_type", type);
            ATTR.set(attr, "key_size", keySize);
            ATTR.set(attr, "value_size", valueSize);
            ATTR.set(attr, "max_entries", maxEntries);
            ATTR.set(attr, "map_flags", flags | (types.module == null ? 0 : VTYPE_BTF_OBJ_FD));
            ATTR.set(attr, "inner_map_fd", call.hold(inner));
            ATTR.set(attr, "numa_node", numaNode);
            Struct.name(attr, ATTR.offset("map_name"), name);
            ATTR.set(attr, "map_ifindex", ifindex);
            ATTR.set(attr, "btf_fd", call.hold(types.btf));
            ATTR.set(attr, "btf_key_type_id", types.key);
            ATTR.set(attr, "btf_value_type_id", types.value);
            ATTR.set(attr, "btf_vmlinux_value_type_id", types.kernelValue);
            ATTR.set(attr, "map_extra", extra);
            ATTR.set(attr, "value_type_btf_obj_fd", call.hold(types.module));
            if (programHash.length > 0) {
                ATTR.set(attr, "excl_prog_hash", Struct.bytes(call, programHash));
                ATTR.set(attr, "excl_prog_hash_size", programHash.length);
            }
            call.addToken(ATTR, attr, "map_flags", "map_token_fd");
            return attr;
        }
    }

    /**
     * Repeats a refused BPF_MAP_CREATE with a log buffer in the common attributes, the fourth and fifth argument of bpf(2)
     * (Linux 7.2, commits f28771c0691b and 49f9b2b2a18c). Returns the kernel's reason; empty if the kernel gives none, or
     * if it now creates the map, which is closed at once.
     */
    record WhyRefused(Create create) implements MapCommand<String> {
        private static final StructLayout COMMON =
                StructLayout.of("bpf_common_attr", "u64 log_buf; u32 log_size, log_level, log_true_size");

        /** BPF_COMMON_ATTRS. To an older kernel the number with this bit is an unknown command: EINVAL. */
        private static final int COMMON_ATTRS = 1 << 16;

        private static final int LOG_BYTES = 1024;

        @Override
        public String run(Call call) {
            MemorySegment log = call.allocate(LOG_BYTES);
            MemorySegment common = call.allocate(COMMON);
            COMMON.set(common, "log_buf", log);
            COMMON.set(common, "log_size", LOG_BYTES);
            COMMON.set(common, "log_level", 1);
            MemorySegment attr = create.encode(call);
            long result = call.syscall(
                    Syscall.BPF,
                    BpfCommand.MAP_CREATE.number() | COMMON_ATTRS,
                    attr.address(),
                    attr.byteSize(),
                    common.address(),
                    common.byteSize(),
                    0);
            if (result >= 0) {
                call.fd(result, "map \"" + create.name + "\"").close();
                return "";
            }
            return log.getString(0, StandardCharsets.ISO_8859_1).strip();
        }
    }

    /**
     * The types of a map's elements.
     *
     * @param btf the BTF that describes key and value
     * @param key id in {@code btf}; 0 for none
     * @param value id in {@code btf}; 0 for none
     * @param kernelValue id in the kernel's BTF, or a module's, for struct_ops
     * @param module the BTF of that module, for a module's type (Linux 6.9)
     */
    record ElementTypes(
            @Nullable Fd btf,
            int key,
            int value,
            int kernelValue,
            @Nullable Fd module) {
        public static final ElementTypes NONE = new ElementTypes(null, 0, 0, 0, null);
    }

    /** Operations on one element. */
    enum Op {
        LOOKUP(BpfCommand.MAP_LOOKUP_ELEM),
        UPDATE(BpfCommand.MAP_UPDATE_ELEM),
        DELETE(BpfCommand.MAP_DELETE_ELEM),
        /** The kernel writes the next key to the value; a NULL key requests the first key. */
        NEXT_KEY(BpfCommand.MAP_GET_NEXT_KEY),
        LOOKUP_AND_DELETE(BpfCommand.MAP_LOOKUP_AND_DELETE_ELEM);

        private final BpfCommand command;

        Op(BpfCommand command) {
            this.command = command;
        }

        public String kernelName() {
            return command.kernelName();
        }
    }

    /**
     * One element of a map. Returns 0 or the error number, because ENOENT and EEXIST are results, not failures.
     *
     * @param key native memory, or {@link MemorySegment#NULL} where the operation takes none
     * @param value native memory, or {@link MemorySegment#NULL} where the operation takes none
     */
    record Element(Op op, Fd map, MemorySegment key, MemorySegment value, long flags) implements MapCommand<Integer> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u32 map_fd; u64 key, value, flags");
        private static final long SIZE = ATTR.size();
        private static final long MAP_FD = ATTR.offset("map_fd");
        private static final long KEY = ATTR.offset("key");
        private static final long VALUE = ATTR.offset("value"); // also next_key
        private static final long FLAGS = ATTR.offset("flags");

        @Override
        public Integer run(Call call) {
            return run(op, call.hold(map), key, value, flags);
        }

        /** Allocates nothing: this runs for each map operation. */
        static int run(Op op, int map, MemorySegment key, MemorySegment value, long flags) {
            Libc.Scratch scratch = Libc.Scratch.get();
            encode(scratch.attr, map, key, value, flags);
            long result;
            do {
                result = Libc.bpf(op.command, scratch, SIZE, key, value);
            } while (result == -Errno.EINTR.number());
            return (int) -result;
        }

        /** Writes every byte, so that the struct need not be cleared first. */
        static void encode(MemorySegment attr, int map, MemorySegment key, MemorySegment value, long flags) {
            attr.set(Struct.U64, 0, 0);
            attr.set(Struct.U32, MAP_FD, map);
            attr.set(Struct.U64, KEY, key.address());
            attr.set(Struct.U64, VALUE, value.address());
            attr.set(Struct.U64, FLAGS, flags);
        }
    }

    /** Operations on many elements at once. */
    enum BatchOp {
        LOOKUP(BpfCommand.MAP_LOOKUP_BATCH),
        LOOKUP_AND_DELETE(BpfCommand.MAP_LOOKUP_AND_DELETE_BATCH),
        UPDATE(BpfCommand.MAP_UPDATE_BATCH),
        DELETE(BpfCommand.MAP_DELETE_BATCH);

        private final BpfCommand command;

        BatchOp(BpfCommand command) {
            this.command = command;
        }

        public String kernelName() {
            return command.kernelName();
        }
    }

    /**
     * Many elements at once. All segments are native, or {@link MemorySegment#NULL} where the operation takes none.
     *
     * @param position where an iteration continues, from the last call; NULL to begin
     * @param nextPosition where the kernel writes the position to continue from
     * @param count number of elements in the segments, or that they can hold
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
        private static final StructLayout ATTR = StructLayout.of(
                "bpf_attr.batch", "u64 in_batch, out_batch, keys, values; u32 count, map_fd; u64 elem_flags, flags");

        @Override
        public BatchResult run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "in_batch", position);
            ATTR.set(attr, "out_batch", nextPosition);
            ATTR.set(attr, "keys", keys);
            ATTR.set(attr, "values", values);
            ATTR.set(attr, "count", count);
            ATTR.set(attr, "map_fd", call.hold(map));
            ATTR.set(attr, "elem_flags", elementFlags);
            // The kernel replaces the requested number of elements by the number of processed elements.
            long result = call.bpfResult(op.command, attr, keys, values);
            return new BatchResult((int) -result, ATTR.u32(attr, "count"));
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
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u32 map_fd");

        @Override
        public Integer run(Call call) {
            return call.bpf(BpfCommand.MAP_FREEZE, call.attr(ATTR, call.hold(map)));
        }
    }

    @Override
    default String call() {
        return switch (this) {
            // No name for a kernel without names, or if the probe lacks permission.
            case Create create ->
                BpfCommand.MAP_CREATE + (create.name.isEmpty() ? "" : " for map \"" + create.name + "\"");
            case WhyRefused again -> again.create.call() + " with a log";
            case Element element -> element.op.command + " on " + element.map.description();
            case Batch batch -> batch.op.command + " on " + batch.map.description();
            case Freeze(Fd map) -> BpfCommand.MAP_FREEZE + " on " + map.description();
        };
    }
}
