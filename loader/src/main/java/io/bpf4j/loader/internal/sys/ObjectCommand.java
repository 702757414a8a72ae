package io.bpf4j.loader.internal.sys;

import io.bpf4j.loader.kernel.Errno;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that programs, maps, links and BTF have in common: pins, ids, information. */
public sealed interface ObjectCommand<R> extends Command<R> {
    /** Of BPF_OBJ_GET_INFO_BY_FD. */
    StructLayout INFO = StructLayout.of("bpf_attr.info", "u32 bpf_fd, info_len; u64 info");

    /** Kinds of objects with ids; the numbers are commands of bpf(2). */
    enum Kind {
        PROGRAM(11, 13, "PROG", "bpf-prog"),
        MAP(12, 14, "MAP", "bpf-map"),
        BTF(23, 19, "BTF", "btf"),
        LINK(31, 30, "LINK", "bpf_link");

        private final int nextId;
        private final int fdById;
        private final String kernelName;

        /** The name of such a file in /proc/PID/fd, after {@code anon_inode:}. */
        private final String fileName;

        Kind(int nextId, int fdById, String kernelName, String fileName) {
            this.nextId = nextId;
            this.fdById = fdById;
            this.kernelName = kernelName;
            this.fileName = fileName;
        }

        /** The kind of a link in /proc/PID/fd such as {@code anon_inode:bpf-map}. */
        static Optional<Kind> of(String link) {
            for (Kind kind : values()) {
                if (link.equals("anon_inode:" + kind.fileName) || link.equals("anon_inode:[" + kind.fileName + "]")) {
                    return Optional.of(kind);
                }
            }
            return Optional.empty();
        }
    }

    /** BPF_OBJ_PIN into a bpffs. */
    record Pin(Fd object, Path path) implements ObjectCommand<Integer> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u64 pathname; u32 bpf_fd, file_flags");

        @Override
        public String call() {
            return "bpf(BPF_OBJ_PIN) of " + object.what() + " to " + path;
        }

        @Override
        public Integer run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "pathname", call.path(path));
            ATTR.set(attr, "bpf_fd", call.hold(object));
            return call.bpf(6, attr);
        }
    }

    /** BPF_OBJ_GET: opens a pinned object. */
    record Get(Path path, int flags) implements ObjectCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET) of " + path;
        }

        @Override
        public Fd run(Call call) {
            MemorySegment attr = call.attr(Pin.ATTR);
            Pin.ATTR.set(attr, "pathname", call.path(path));
            Pin.ATTR.set(attr, "file_flags", flags);
            return call.fd(call.bpfResult(7, attr), "pin " + path);
        }
    }

    /** The kind of a file descriptor, from /proc; empty for other kinds, and without /proc. */
    record KindOf(Fd object) implements ObjectCommand<Optional<Kind>> {
        @Override
        public String call() {
            return "readlink of " + object.what();
        }

        @Override
        public Optional<Kind> run(Call call) {
            try {
                Path link = call.kernel().self().resolve("fd/" + call.hold(object));
                return Kind.of(Files.readSymbolicLink(link).toString());
            } catch (IOException e) {
                return Optional.empty();
            }
        }
    }

    /** The fields of /proc/self/fdinfo for a file descriptor, by name; empty without /proc. */
    record FdInfo(Fd object) implements ObjectCommand<Map<String, String>> {
        @Override
        public String call() {
            return "fdinfo of " + object.what();
        }

        @Override
        public Map<String, String> run(Call call) {
            Map<String, String> fields = new HashMap<>();
            try {
                // Lines such as "memlock:	4096".
                for (String line : Files.readAllLines(call.kernel().self().resolve("fdinfo/" + call.hold(object)))) {
                    int colon = line.indexOf(':');
                    if (colon > 0) {
                        fields.putIfAbsent(
                                line.substring(0, colon),
                                line.substring(colon + 1).strip());
                    }
                }
            } catch (IOException e) {
                return Map.of();
            }
            return fields;
        }
    }

    /** BPF_*_GET_NEXT_ID: the smallest id above; empty after the last. */
    record NextId(Kind kind, int after) implements ObjectCommand<OptionalInt> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", "u32 start_id, next_id, open_flags");

        @Override
        public String call() {
            return "bpf(BPF_" + kind.kernelName + "_GET_NEXT_ID) after " + after;
        }

        @Override
        public OptionalInt run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "start_id", after);
            long result = call.bpfResult(kind.nextId, attr);
            if (result == -Errno.ENOENT.number()) {
                return OptionalInt.empty();
            }
            call.check(result);
            return OptionalInt.of(ATTR.u32(attr, "next_id"));
        }
    }

    /** BPF_*_GET_FD_BY_ID. */
    record FdById(Kind kind, int id) implements ObjectCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_" + kind.kernelName + "_GET_FD_BY_ID) of " + id;
        }

        @Override
        public Fd run(Call call) {
            MemorySegment attr = call.attr(NextId.ATTR);
            NextId.ATTR.set(attr, "start_id", id); // in C one of the names for this field
            return call.fd(call.bpfResult(kind.fdById, attr), kind.name().toLowerCase(Locale.ROOT) + " " + id);
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of an object: the struct depends on its kind. */
    sealed interface Info<R> extends ObjectCommand<R> {
        /** The object. */
        Fd object();

        @Override
        default String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + object().what();
        }
    }

    /** Lets the kernel fill a struct, in which pointers may say where to put more. */
    private static MemorySegment filled(Call call, Fd object, MemorySegment info) {
        MemorySegment attr = call.attr(INFO);
        INFO.set(attr, "bpf_fd", call.hold(object));
        INFO.set(attr, "info_len", info.byteSize());
        INFO.set(attr, "info", info);
        call.bpf(15, attr);
        return info;
    }

    /** The information about a map. */
    record InfoOfMap(Fd object) implements Info<MapInfo> {
        @Override
        public MapInfo run(Call call) {
            return MapInfo.read(filled(call, object, call.allocate(MapInfo.LAYOUT)));
        }
    }

    /** The information about a program. */
    record InfoOfProgram(Fd object) implements Info<ProgInfo> {
        @Override
        public ProgInfo run(Call call) {
            return ProgInfo.read(filled(call, object, call.allocate(ProgInfo.LAYOUT)));
        }
    }

    /** The ids of the maps that a program uses. */
    record MapIdsOfProgram(Fd object) implements Info<List<Integer>> {
        /** Two calls: the first gets the number of ids. A program's maps change only when a map is bound to it. */
        @Override
        public List<Integer> run(Call call) {
            int count = new InfoOfProgram(object).run(call).mapCount();
            MemorySegment ids = call.allocate(Struct.U32, Math.max(1, count));
            MemorySegment info = call.allocate(ProgInfo.LAYOUT);
            ProgInfo.LAYOUT.set(info, "nr_map_ids", count);
            ProgInfo.LAYOUT.set(info, "map_ids", ids);
            int given = ProgInfo.read(filled(call, object, info)).mapCount();
            return IntStream.of(ids.toArray(Struct.U32))
                    .limit(Math.min(count, given))
                    .boxed()
                    .toList();
        }
    }

    /**
     * The information about a link.
     *
     * @param text the text of the link to request; null for none
     */
    record InfoOfLink(Fd object, LinkInfo.@Nullable TextField text) implements Info<LinkInfo> {
        /** PATH_MAX; names of kernel functions have up to 512 bytes. */
        private static final int TEXT_SIZE = 4096;

        public InfoOfLink(Fd object) {
            this(object, null);
        }

        @Override
        public LinkInfo run(Call call) {
            MemorySegment info = call.allocate(LinkInfo.SIZE, Long.BYTES);
            if (text == null) {
                return LinkInfo.read(filled(call, object, info), "");
            }
            MemorySegment bytes = call.allocate(TEXT_SIZE);
            text.request(info, bytes);
            return LinkInfo.read(filled(call, object, info), Struct.text(bytes));
        }
    }

    /** The information about BTF, with the types themselves. */
    record InfoOfBtf(Fd object) implements Info<BtfInfo> {
        /** Longest name of a BTF object: a module name, 56 bytes (MODULE_NAME_LEN on 64-bit machines). */
        private static final int NAME_SIZE = 64;

        /** Two calls: the first gets the size of the types. Loaded BTF never changes. */
        @Override
        public BtfInfo run(Call call) {
            MemorySegment size = filled(call, object, call.allocate(BtfInfo.LAYOUT));
            MemorySegment data =
                    call.allocate(Integer.toUnsignedLong(BtfInfo.LAYOUT.u32(size, "btf_size")), Long.BYTES);
            MemorySegment name = call.allocate(NAME_SIZE);
            MemorySegment info = call.allocate(BtfInfo.LAYOUT);
            BtfInfo.request(info, data, name);
            return BtfInfo.read(filled(call, object, info), data, name);
        }
    }
}
