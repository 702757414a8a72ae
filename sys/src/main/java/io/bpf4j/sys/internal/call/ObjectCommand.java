package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that programs, maps, links and BTF have in common: pins, ids, information. */
public sealed interface ObjectCommand<R> extends Command<R> {
    /** The fields of BPF_OBJ_GET_INFO_BY_FD. */
    StructLayout INFO = StructLayout.of("bpf_attr.info", "u32 bpf_fd, info_len; u64 info");

    /** Kinds of objects with ids. */
    enum Kind {
        PROGRAM(BpfCommand.PROG_GET_NEXT_ID, BpfCommand.PROG_GET_FD_BY_ID, "bpf-prog"),
        MAP(BpfCommand.MAP_GET_NEXT_ID, BpfCommand.MAP_GET_FD_BY_ID, "bpf-map"),
        BTF(BpfCommand.BTF_GET_NEXT_ID, BpfCommand.BTF_GET_FD_BY_ID, "btf"),
        LINK(BpfCommand.LINK_GET_NEXT_ID, BpfCommand.LINK_GET_FD_BY_ID, "bpf_link");

        private final BpfCommand nextId;
        private final BpfCommand fdById;

        /** The name of such a file in /proc/PID/fd, after {@code anon_inode:}. */
        private final String fileName;

        Kind(BpfCommand nextId, BpfCommand fdById, String fileName) {
            this.nextId = nextId;
            this.fdById = fdById;
            this.fileName = fileName;
        }

        /**
         * The kind of object to which a link in /proc/PID/fd refers, such as {@code anon_inode:bpf-map}. A new BPF link
         * is {@code bpf_link} (bpf_link_prime in kernel/bpf/syscall.c); one that was opened by its pin or its id is
         * {@code bpf-link} (bpf_link_new_fd).
         */
        public static Optional<Kind> of(String link) {
            for (Kind kind : values()) {
                if (link.equals("anon_inode:" + kind.fileName) || link.equals("anon_inode:[" + kind.fileName + "]")) {
                    return Optional.of(kind);
                }
            }
            return link.equals("anon_inode:bpf-link") ? Optional.of(LINK) : Optional.empty();
        }
    }

    /** {@code BPF_F_RDONLY}: opens an object for reading, so that a pin need not be writable (Linux 4.15). */
    int READ_ONLY = 1 << 3;

    /** {@code BPF_F_WRONLY} (Linux 4.15). */
    int WRITE_ONLY = 1 << 4;

    /** BPF_OBJ_PIN into a bpffs. */
    record Pin(Fd object, Path path) implements ObjectCommand<Integer> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u64 pathname; u32 bpf_fd, file_flags");

        @Override
        public Integer run(Call call) {
            return call.bpf(BpfCommand.OBJ_PIN, call.attr(ATTR, call.path(path), call.hold(object)));
        }
    }

    /**
     * BPF_OBJ_GET: opens a pinned object.
     *
     * @param flags {@link #READ_ONLY} or {@link #WRITE_ONLY} for a map, {@link #READ_ONLY} for a program, else 0
     */
    record Get(Path path, int flags) implements ObjectCommand<Fd> {
        @Override
        public Fd run(Call call) {
            return call.fd(
                    call.bpfResult(BpfCommand.OBJ_GET, call.attr(Pin.ATTR, call.path(path), 0, flags)), "pin " + path);
        }
    }

    /** The kind of a file descriptor, from /proc; empty for other kinds, and without /proc. */
    record KindOf(Fd object) implements ObjectCommand<Optional<Kind>> {
        @Override
        public Optional<Kind> run(Call call) {
            return Kind.of(new FileCommand.NameOf(object).run(call));
        }
    }

    /** BPF_*_GET_NEXT_ID: the smallest id above; empty after the last. */
    record NextId(Kind kind, int after) implements ObjectCommand<OptionalInt> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u32 start_id, next_id, open_flags");

        @Override
        public OptionalInt run(Call call) {
            MemorySegment attr = call.attr(ATTR, after);
            long result = call.bpfResult(kind.nextId, attr);
            if (result == -Errno.ENOENT.number()) {
                return OptionalInt.empty();
            }
            call.check(result);
            return OptionalInt.of(ATTR.u32(attr, "next_id"));
        }
    }

    /**
     * BPF_*_GET_FD_BY_ID.
     *
     * @param flags {@link #READ_ONLY} or {@link #WRITE_ONLY} for a map, else 0
     */
    record FdById(Kind kind, int id, int flags) implements ObjectCommand<Fd> {
        public FdById(Kind kind, int id) {
            this(kind, id, 0);
        }

        @Override
        public Fd run(Call call) {
            // The id is in the same place as start_id of NextId.
            long result = call.bpfResult(kind.fdById, call.attr(NextId.ATTR, id, 0, flags));
            return call.fd(result, kind.name().toLowerCase(Locale.ROOT) + " " + id);
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of an object: the struct depends on its kind. */
    sealed interface InfoOf<R> extends ObjectCommand<R> {
        /** The object. */
        Fd object();
    }

    /** Passes a struct to the kernel, which fills it and the buffers that its pointers refer to. */
    private static MemorySegment fill(Call call, Fd object, MemorySegment info) {
        call.bpf(BpfCommand.OBJ_GET_INFO_BY_FD, call.attr(INFO, call.hold(object), info.byteSize(), info.address()));
        return info;
    }

    /**
     * The information about a map.
     *
     * @param withState whether to read from /proc, too, how much memory it uses and whether it is frozen
     */
    record InfoOfMap(Fd object, boolean withState) implements InfoOf<MapInfo> {
        private static final StructLayout LAYOUT = StructLayout.of("bpf_map_info", """
                u32 type, id, key_size, value_size, max_entries, map_flags;
                u8 name[16];
                u32 ifindex, btf_vmlinux_value_type_id;
                u64 netns_dev, netns_ino;
                u32 btf_id, btf_key_type_id, btf_value_type_id, btf_vmlinux_id;
                u64 map_extra;
                """);

        /** An older kernel leaves unknown fields 0. */
        @Override
        public MapInfo run(Call call) {
            MemorySegment info = fill(call, object, call.allocate(LAYOUT));
            Map<String, String> state = withState ? state(call) : Map.of();
            String memory = state.getOrDefault("memlock", "");
            String frozen = state.getOrDefault("frozen", "");
            String programType = state.getOrDefault("owner_prog_type", "");
            return new MapInfo(
                    LAYOUT.u32(info, "id"),
                    CString.of(LAYOUT.slice(info, "name")),
                    LAYOUT.u32(info, "type"),
                    LAYOUT.u32(info, "key_size"),
                    LAYOUT.u32(info, "value_size"),
                    LAYOUT.u32(info, "max_entries"),
                    LAYOUT.u32(info, "map_flags"),
                    LAYOUT.u64(info, "map_extra"),
                    LAYOUT.u32(info, "ifindex"),
                    LAYOUT.u32(info, "btf_id"),
                    LAYOUT.u32(info, "btf_key_type_id"),
                    LAYOUT.u32(info, "btf_value_type_id"),
                    LAYOUT.u32(info, "btf_vmlinux_id"),
                    LAYOUT.u32(info, "btf_vmlinux_value_type_id"),
                    memory.matches("\\d{1,18}") ? OptionalLong.of(Long.parseLong(memory)) : OptionalLong.empty(),
                    frozen.isEmpty() ? Optional.empty() : Optional.of(!frozen.equals("0")),
                    programType.matches("\\d{1,9}")
                            ? OptionalInt.of(Integer.parseInt(programType))
                            : OptionalInt.empty());
        }

        /** The fields of /proc/self/fdinfo, by name; empty without /proc. */
        private Map<String, String> state(Call call) {
            Map<String, String> fields = new HashMap<>();
            try {
                // Lines such as "memlock:	4096".
                for (String line : Files.readAllLines(call.kernel().self().resolve("fdinfo/" + call.hold(object)))) {
                    int colon = Math.max(0, line.indexOf(':'));
                    fields.putIfAbsent(
                            line.substring(0, colon), line.substring(colon + 1).strip());
                }
                return fields;
            } catch (IOException e) {
                return Map.of();
            }
        }
    }

    /** The information about a program. */
    record InfoOfProgram(Fd object) implements InfoOf<ProgramInfo> {
        private static final StructLayout LAYOUT = StructLayout.of("bpf_prog_info", """
                u32 type, id;
                u8 tag[8];
                u32 jited_prog_len, xlated_prog_len;
                u64 jited_prog_insns, xlated_prog_insns, load_time;
                u32 created_by_uid, nr_map_ids;
                u64 map_ids;
                u8 name[16];
                u32 ifindex, gpl_compatible;
                u64 netns_dev, netns_ino;
                u32 nr_jited_ksyms, nr_jited_func_lens;
                u64 jited_ksyms, jited_func_lens;
                u32 btf_id, func_info_rec_size;
                u64 func_info;
                u32 nr_func_info, nr_line_info;
                u64 line_info, jited_line_info;
                u32 nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size, nr_prog_tags;
                u64 prog_tags, run_time_ns, run_cnt, recursion_misses;
                u32 verified_insns;
                """);

        /** The first bit-field of its word. */
        private static final int GPL_COMPATIBLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 1 << 31;

        /** An older kernel leaves unknown fields 0. */
        @Override
        public ProgramInfo run(Call call) {
            MemorySegment info = fill(call, object, call.allocate(LAYOUT));
            return new ProgramInfo(
                    LAYOUT.u32(info, "id"),
                    CString.of(LAYOUT.slice(info, "name")),
                    LAYOUT.u32(info, "type"),
                    HexFormat.of().formatHex(LAYOUT.slice(info, "tag").toArray(ValueLayout.JAVA_BYTE)),
                    LAYOUT.u32(info, "xlated_prog_len"),
                    LAYOUT.u32(info, "jited_prog_len"),
                    LAYOUT.u32(info, "verified_insns"),
                    mapIds(call, LAYOUT.u32(info, "nr_map_ids")),
                    LAYOUT.u32(info, "btf_id"),
                    LAYOUT.u32(info, "created_by_uid"),
                    (LAYOUT.u32(info, "gpl_compatible") & GPL_COMPATIBLE) != 0,
                    Duration.ofNanos(LAYOUT.u64(info, "load_time")),
                    Duration.ofNanos(LAYOUT.u64(info, "run_time_ns")),
                    LAYOUT.u64(info, "run_cnt"),
                    LAYOUT.u64(info, "recursion_misses"));
        }

        /**
         * A second call, for the number of ids that the first call returned. It changes only when a map is bound to the
         * program.
         */
        private List<Integer> mapIds(Call call, int count) {
            if (count == 0) {
                return List.of();
            }
            MemorySegment ids = call.allocate(Struct.U32, count);
            MemorySegment info = call.allocate(LAYOUT);
            LAYOUT.set(info, "nr_map_ids", count);
            LAYOUT.set(info, "map_ids", ids);
            int returned = LAYOUT.u32(fill(call, object, info), "nr_map_ids");
            return IntStream.of(ids.toArray(Struct.U32))
                    .limit(Math.min(count, returned))
                    .boxed()
                    .toList();
        }
    }

    /** The code of a program. */
    record CodeOfProgram(Fd object) implements InfoOf<RawCode> {
        /** Two calls: the first gets the sizes. The code of a loaded program never changes. */
        @Override
        public RawCode run(Call call) {
            MemorySegment sizes = fill(call, object, call.allocate(InfoOfProgram.LAYOUT));
            MemorySegment info = call.allocate(InfoOfProgram.LAYOUT);
            RawCode.Buffers buffers = RawCode.request(call, InfoOfProgram.LAYOUT, sizes, info);
            return buffers.read(InfoOfProgram.LAYOUT, fill(call, object, info));
        }
    }

    /**
     * The information about a link.
     *
     * @param text the text of the link to request; null for none
     */
    record InfoOfLink(Fd object, RawLinkInfo.@Nullable TextField text) implements InfoOf<RawLinkInfo> {
        /** PATH_MAX; names of kernel functions have up to 512 bytes. */
        private static final int TEXT_SIZE = 4096;

        public InfoOfLink(Fd object) {
            this(object, null);
        }

        @Override
        public RawLinkInfo run(Call call) {
            MemorySegment info = call.allocate(RawLinkInfo.SIZE, Long.BYTES);
            if (text == null) {
                return RawLinkInfo.read(fill(call, object, info), "");
            }
            MemorySegment bytes = call.allocate(TEXT_SIZE);
            text.request(info, bytes);
            return RawLinkInfo.read(fill(call, object, info), CString.of(bytes));
        }
    }

    /**
     * The sites of a link: an array for each field. The sites never change.
     *
     * @param count the number of sites, from {@link InfoOfLink}
     */
    record SitesOfLink(Fd object, RawLinkInfo.SiteFields fields, int count) implements InfoOf<List<long[]>> {
        @Override
        public List<long[]> run(Call call) {
            List<MemorySegment> arrays = fields.pointers().stream()
                    .map(_ -> call.allocate(Struct.U64, count))
                    .toList();
            MemorySegment info = call.allocate(RawLinkInfo.SIZE, Long.BYTES);
            fields.request(info, arrays, count);
            fill(call, object, info);
            return arrays.stream().map(array -> array.toArray(Struct.U64)).toList();
        }
    }

    /**
     * The information about BTF.
     *
     * @param withTypes whether to copy the types themselves, too: those of a kernel have ten million bytes
     */
    record InfoOfBtf(Fd object, boolean withTypes) implements InfoOf<BtfInfo> {
        /** Longest name of a BTF object: a module name, 56 bytes (MODULE_NAME_LEN on 64-bit machines). */
        private static final int NAME_SIZE = 64;

        public InfoOfBtf(Fd object) {
            this(object, true);
        }

        /** With the types two calls: the first gets their size. Loaded BTF never changes. */
        @Override
        public BtfInfo run(Call call) {
            MemorySegment data = MemorySegment.NULL;
            if (withTypes) {
                MemorySegment size = fill(call, object, call.allocate(BtfInfo.LAYOUT));
                data = call.allocate(Integer.toUnsignedLong(BtfInfo.LAYOUT.u32(size, "btf_size")), Long.BYTES);
            }
            try {
                return ask(call, data, call.allocate(NAME_SIZE));
            } catch (SyscallException e) {
                if (e.errno() != Errno.E2BIG) {
                    throw e;
                }
                // Before Linux 5.11 the struct ends before the name, and what comes after it must be zero. The kernel's
                // own types, the only ones with a name, have no id there.
                return ask(call, data, MemorySegment.NULL);
            }
        }

        private BtfInfo ask(Call call, MemorySegment data, MemorySegment name) {
            MemorySegment info = call.allocate(BtfInfo.LAYOUT);
            BtfInfo.request(info, data, name);
            return BtfInfo.read(fill(call, object, info), data, name);
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Pin(Fd object, Path path) -> BpfCommand.OBJ_PIN + " of " + object.description() + " to " + path;
            case Get get -> BpfCommand.OBJ_GET + " of " + get.path;
            case KindOf(Fd object) -> "readlink of " + object.description();
            case NextId(Kind kind, int after) -> kind.nextId + " after " + after;
            case FdById byId -> byId.kind.fdById + " of " + byId.id;
            case InfoOf<?> info ->
                BpfCommand.OBJ_GET_INFO_BY_FD + " of " + info.object().description();
        };
    }
}
