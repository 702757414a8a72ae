package io.bpf4j.loader.internal.sys;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that programs, maps, links and BTF have in common: pins, ids, information. */
public sealed interface ObjectCommand<R> extends Command<R> {
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

        public int nextIdCommand() {
            return nextId;
        }

        public int fdByIdCommand() {
            return fdById;
        }
    }

    /** BPF_OBJ_PIN into a bpffs. */
    record Pin(Fd object, Path path) implements ObjectCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_PIN) of " + object.what() + " to " + path;
        }

        @Override
        public List<Fd> fds() {
            return List.of(object);
        }
    }

    /** BPF_OBJ_GET: opens a pinned object. */
    record Get(Path path, int flags) implements ObjectCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET) of " + path;
        }
    }

    /** The kind of a file descriptor, from /proc; empty for other kinds, and without /proc. */
    record KindOf(Fd object) implements ObjectCommand<Optional<Kind>> {
        @Override
        public String call() {
            return "readlink of " + object.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(object);
        }
    }

    /** The fields of /proc/self/fdinfo for a file descriptor, by name; empty without /proc. */
    record FdInfo(Fd object) implements ObjectCommand<Map<String, String>> {
        @Override
        public String call() {
            return "fdinfo of " + object.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(object);
        }
    }

    /** BPF_*_GET_NEXT_ID: the smallest id above; empty after the last. */
    record NextId(Kind kind, int after) implements ObjectCommand<OptionalInt> {
        @Override
        public String call() {
            return "bpf(BPF_" + kind.kernelName + "_GET_NEXT_ID) after " + after;
        }
    }

    /** BPF_*_GET_FD_BY_ID. */
    record FdById(Kind kind, int id) implements ObjectCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_" + kind.kernelName + "_GET_FD_BY_ID) of " + id;
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of a map. */
    record InfoOfMap(Fd map) implements ObjectCommand<MapInfo> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + map.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(map);
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of a program. */
    record InfoOfProgram(Fd program) implements ObjectCommand<ProgInfo> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program);
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of a program, for the ids of the maps that it uses. */
    record MapIdsOfProgram(Fd program) implements ObjectCommand<List<Integer>> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program);
        }
    }

    /**
     * BPF_OBJ_GET_INFO_BY_FD of a link.
     *
     * @param text the text of the link to request; null for none
     */
    record InfoOfLink(Fd link, LinkInfo.@Nullable TextField text) implements ObjectCommand<LinkInfo> {
        public InfoOfLink(Fd link) {
            this(link, null);
        }

        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + link.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(link);
        }
    }

    /** BPF_OBJ_GET_INFO_BY_FD of BTF, with the types themselves. */
    record InfoOfBtf(Fd btf) implements ObjectCommand<BtfInfo> {
        @Override
        public String call() {
            return "bpf(BPF_OBJ_GET_INFO_BY_FD) of " + btf.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(btf);
        }
    }
}
