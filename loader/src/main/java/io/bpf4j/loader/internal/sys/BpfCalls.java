package io.bpf4j.loader.internal.sys;

import io.bpf4j.loader.kernel.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Executes the commands of bpf(2): encodes the struct into the thread's scratch memory, makes the call, and reads the
 * result. Memory that the struct points to is in a confined arena for the duration of the call. <i>Thread-safe.</i>
 */
final class BpfCalls {
    /** Numbers of {@code enum bpf_cmd} that are not in a record. */
    private static final int MAP_CREATE = 0;

    private static final int PROG_LOAD = 5;
    private static final int OBJ_PIN = 6;
    private static final int OBJ_GET = 7;
    private static final int PROG_ATTACH = 8;
    private static final int PROG_DETACH = 9;
    private static final int PROG_TEST_RUN = 10;
    private static final int OBJ_GET_INFO_BY_FD = 15;
    private static final int RAW_TRACEPOINT_OPEN = 17;
    private static final int BTF_LOAD = 18;
    private static final int MAP_FREEZE = 22;
    private static final int LINK_CREATE = 28;
    private static final int LINK_UPDATE = 29;
    private static final int ENABLE_STATS = 32;
    private static final int ITER_CREATE = 33;
    private static final int LINK_DETACH = 34;
    private static final int PROG_BIND_MAP = 35;
    private static final int TOKEN_CREATE = 36;
    private static final int PROG_STREAM_READ = 37;
    private static final int PROG_ASSOC_STRUCT_OPS = 38;

    /**
     * The verifier gives up with EAGAIN when a signal is pending (commit c3494801cd17, "bpf: check pending signals
     * while verifying programs"); signals in a JVM are handled quickly, so the next try is likely to succeed.
     */
    private static final int LOAD_TRIES = 5;

    /** Longest name of a BTF object: a module name, 56 bytes (MODULE_NAME_LEN on 64-bit machines). */
    private static final int BTF_NAME_SIZE = 64;

    private final LinuxKernel kernel;
    private final Path self;
    private final AtomicBoolean memlockRaised = new AtomicBoolean();

    BpfCalls(LinuxKernel kernel, Path self) {
        this.kernel = kernel;
        this.self = self;
    }

    Object execute(MapCommand<?> command) {
        Libc.Scratch scratch = Libc.Scratch.get();
        return switch (command) {
            case MapCommand.Create create -> {
                long size = MapCreateAttr.encode(scratch.attr, create);
                yield create(create, create, scratch, size);
            }
            case MapCommand.Element element ->
                element(element.op(), element.map(), element.key(), element.value(), element.flags());
            case MapCommand.Batch batch -> {
                long size = MapBatchAttr.encode(scratch.attr, batch);
                long result = Libc.bpf(batch.op().number(), scratch, size, batch.keys(), batch.values());
                yield new MapCommand.BatchResult((int) -result, MapBatchAttr.count(scratch.attr));
            }
            case MapCommand.Freeze freeze ->
                kernel.check(freeze, ints(MAP_FREEZE, scratch, freeze.map().number(), 0, 0, 4));
        };
    }

    private Fd create(Command<?> command, MapCommand.Create create, Libc.Scratch scratch, long size) {
        long result = withMemlock(() -> Libc.bpf(MAP_CREATE, scratch, size));
        return Fd.of(kernel, kernel.check(command, result), "map \"" + create.name() + "\"");
    }

    Object execute(TokenCommand<?> command) {
        Libc.Scratch scratch = Libc.Scratch.get();
        try (Arena arena = Arena.ofConfined()) {
            return switch (command) {
                case TokenCommand.Create create -> {
                    long result = Libc.bpf(TOKEN_CREATE, scratch, TokenAttr.encode(scratch.attr, create));
                    yield Fd.of(
                            kernel,
                            kernel.check(create, result),
                            "BPF token of " + create.bpffs().what());
                }
                case TokenCommand.CreateMap with -> {
                    long size = MapCreateAttr.encode(scratch.attr, with.map());
                    yield create(with, with.map(), scratch, TokenAttr.addToMap(scratch.attr, size, with.token()));
                }
                case TokenCommand.Load with -> load(with.program(), with.token(), scratch, arena);
                case TokenCommand.LoadBtf with -> load(with.btf(), with.token(), scratch, arena);
            };
        }
    }

    /** Returns 0 or the error number; allocates nothing. */
    int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        Libc.Scratch scratch = Libc.Scratch.get();
        long size = MapElementAttr.encode(scratch.attr, map.number(), key, value, flags);
        long result;
        do {
            result = Libc.bpf(op.number(), scratch, size, key, value);
        } while (result == -Errno.EINTR.number());
        return (int) -result;
    }

    Object execute(ProgCommand<?> command) {
        Libc.Scratch scratch = Libc.Scratch.get();
        try (Arena arena = Arena.ofConfined()) {
            return switch (command) {
                case ProgCommand.Load load -> load(load, null, scratch, arena);
                case ProgCommand.LoadBtf btf -> load(btf, null, scratch, arena);
                case ProgCommand.BindMap bind ->
                    kernel.check(
                            bind,
                            ints(
                                    PROG_BIND_MAP,
                                    scratch,
                                    bind.program().number(),
                                    bind.map().number(),
                                    0,
                                    12));
                case ProgCommand.AssociateStructOps with ->
                    kernel.check(
                            with,
                            ints(PROG_ASSOC_STRUCT_OPS, scratch, with.map().number(), with.program(), 0, 12));
                case ProgCommand.TestRun run -> testRun(run, scratch, arena);
                case ProgCommand.ReadStream read -> {
                    MemorySegment bytes = arena.allocate(read.room());
                    long size = StreamReadAttr.encode(scratch.attr, read, bytes);
                    int got = kernel.check(read, Libc.bpf(PROG_STREAM_READ, scratch, size));
                    yield bytes.asSlice(0, got).toArray(ValueLayout.JAVA_BYTE);
                }
                case ProgCommand.EnableStats stats ->
                    // BPF_STATS_RUN_TIME is 0, the only kind.
                    Fd.of(kernel, kernel.check(stats, ints(ENABLE_STATS, scratch, 0, 0, 0, 4)), "BPF statistics");
            };
        }
    }

    private LoadResult load(ProgCommand.Load load, @Nullable Fd token, Libc.Scratch scratch, Arena arena) {
        MemorySegment log = arena.allocate(load.log().size());
        // Encoded once: encoding again would copy the instructions again.
        long plain = ProgLoadAttr.encode(scratch.attr, arena, load, log);
        long size = token == null ? plain : TokenAttr.addToProgram(scratch.attr, plain, token);
        long result = -Errno.EAGAIN.number();
        for (int i = 0; i < LOAD_TRIES && result == -Errno.EAGAIN.number(); i++) {
            result = withMemlock(() -> Libc.bpf(PROG_LOAD, scratch, size));
        }
        return result(result, "program \"" + load.name() + "\"", log, ProgLoadAttr.logTrueSize(scratch.attr));
    }

    private LoadResult load(ProgCommand.LoadBtf load, @Nullable Fd token, Libc.Scratch scratch, Arena arena) {
        MemorySegment log = arena.allocate(load.log().size());
        long plain = BtfLoadAttr.encode(scratch.attr, arena, load, log);
        long size = token == null ? plain : TokenAttr.addToBtf(scratch.attr, plain, token);
        long result = withMemlock(() -> Libc.bpf(BTF_LOAD, scratch, size));
        return result(result, "BTF of " + load.name(), log, BtfLoadAttr.logTrueSize(scratch.attr));
    }

    private LoadResult result(long result, String what, MemorySegment log, int logSize) {
        String text = log.byteSize() == 0 ? "" : Struct.text(log);
        return result >= 0
                ? new LoadResult.Loaded(Fd.of(kernel, (int) result, what), text)
                : new LoadResult.Refused((int) -result, text, logSize);
    }

    private ProgCommand.TestRunResult testRun(ProgCommand.TestRun run, Libc.Scratch scratch, Arena arena) {
        MemorySegment dataOut = run.dataOut() == 0 ? MemorySegment.NULL : arena.allocate(run.dataOut(), 8);
        MemorySegment contextOut = run.contextOut() == 0 ? MemorySegment.NULL : arena.allocate(run.contextOut(), 8);
        MemorySegment contextIn = Struct.bytes(arena, run.context());
        long size = TestRunAttr.encode(scratch.attr, arena, run, dataOut, contextIn, contextOut);
        long result;
        do {
            result = Libc.bpf(PROG_TEST_RUN, scratch, size);
        } while (result == -Errno.EINTR.number());
        kernel.check(run, result);
        return TestRunAttr.result(scratch.attr, dataOut, contextIn, contextOut);
    }

    Object execute(ObjectCommand<?> command) {
        Libc.Scratch scratch = Libc.Scratch.get();
        try (Arena arena = Arena.ofConfined()) {
            return switch (command) {
                case ObjectCommand.Pin pin -> {
                    long size = ObjectAttr.encodePin(
                            scratch.attr, arena, pin.path(), pin.object().number(), 0);
                    yield kernel.check(pin, Libc.bpf(OBJ_PIN, scratch, size));
                }
                case ObjectCommand.Get get -> {
                    long size = ObjectAttr.encodePin(scratch.attr, arena, get.path(), 0, get.flags());
                    yield Fd.of(kernel, kernel.check(get, Libc.bpf(OBJ_GET, scratch, size)), "pin " + get.path());
                }
                case ObjectCommand.KindOf of -> kind(of.object());
                case ObjectCommand.FdInfo of -> fdInfo(of.object());
                case ObjectCommand.NextId next -> {
                    long size = ObjectAttr.encodeId(scratch.attr, next.after());
                    long result = Libc.bpf(next.kind().nextIdCommand(), scratch, size);
                    if (result == -Errno.ENOENT.number()) {
                        yield OptionalInt.empty();
                    }
                    kernel.check(next, result);
                    yield OptionalInt.of(ObjectAttr.nextId(scratch.attr));
                }
                case ObjectCommand.FdById byId -> {
                    long size = ObjectAttr.encodeId(scratch.attr, byId.id());
                    int number = kernel.check(byId, Libc.bpf(byId.kind().fdByIdCommand(), scratch, size));
                    yield Fd.of(kernel, number, byId.kind().name().toLowerCase(Locale.ROOT) + " " + byId.id());
                }
                case ObjectCommand.InfoOfMap of ->
                    InfoStructs.map(info(of, of.map(), arena.allocate(InfoStructs.MAP_SIZE, 8), scratch));
                case ObjectCommand.InfoOfProgram of ->
                    InfoStructs.program(info(of, of.program(), arena.allocate(InfoStructs.PROG_SIZE, 8), scratch));
                case ObjectCommand.MapIdsOfProgram of -> mapIds(of, scratch, arena);
                case ObjectCommand.InfoOfLink of -> link(of, scratch, arena);
                case ObjectCommand.InfoOfBtf of -> btf(of, scratch, arena);
            };
        }
    }

    private Optional<ObjectCommand.Kind> kind(Fd fd) {
        try {
            Path link = Files.readSymbolicLink(self.resolve("fd/" + fd.number()));
            return ObjectCommand.Kind.of(link.toString());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Lines such as {@code memlock:	4096}. */
    private Map<String, String> fdInfo(Fd fd) {
        Map<String, String> fields = new HashMap<>();
        try {
            Path file = self.resolve("fdinfo/" + fd.number());
            for (String line : Files.readAllLines(file)) {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    fields.putIfAbsent(
                            line.substring(0, colon), line.substring(colon + 1).strip());
                }
            }
        } catch (IOException e) {
            return Map.of();
        }
        return fields;
    }

    private MemorySegment info(Command<?> command, Fd fd, MemorySegment info, Libc.Scratch scratch) {
        long size = ObjectAttr.encodeInfo(scratch.attr, fd.number(), info);
        kernel.check(command, Libc.bpf(OBJ_GET_INFO_BY_FD, scratch, size));
        return info;
    }

    private LinkInfo link(ObjectCommand.InfoOfLink of, Libc.Scratch scratch, Arena arena) {
        MemorySegment info = arena.allocate(LinkInfoStruct.SIZE, 8);
        MemorySegment text = arena.allocate(LinkInfoStruct.TEXT_SIZE);
        if (of.text() != null) {
            LinkInfoStruct.askText(info, of.text(), text);
        }
        return LinkInfoStruct.read(info(of, of.link(), info, scratch), Struct.text(text));
    }

    /**
     * Two calls: the first gets the number of ids, the second the ids. A program's maps change only when a map is bound
     * to it.
     */
    private List<Integer> mapIds(ObjectCommand.MapIdsOfProgram of, Libc.Scratch scratch, Arena arena) {
        MemorySegment first = info(of, of.program(), arena.allocate(InfoStructs.PROG_SIZE, 8), scratch);
        int count = InfoStructs.program(first).mapCount();
        MemorySegment ids = arena.allocate(Math.max(1L, count) * Integer.BYTES, 8);
        MemorySegment info = arena.allocate(InfoStructs.PROG_SIZE, 8);
        InfoStructs.askMapIds(info, ids.asSlice(0, (long) count * Integer.BYTES));
        int given = Math.min(
                count,
                InfoStructs.program(info(of, of.program(), info, scratch)).mapCount());
        List<Integer> list = new ArrayList<>(given);
        for (int i = 0; i < given; i++) {
            list.add(ids.getAtIndex(Struct.U32, i));
        }
        return list;
    }

    /** Two calls: the first gets the size of the types, the second the types. Loaded BTF never changes. */
    private BtfInfo btf(ObjectCommand.InfoOfBtf of, Libc.Scratch scratch, Arena arena) {
        MemorySegment size = info(of, of.btf(), arena.allocate(InfoStructs.BTF_SIZE, 8), scratch);
        MemorySegment data = arena.allocate(Integer.toUnsignedLong(InfoStructs.btfSize(size)), 8);
        MemorySegment name = arena.allocate(BTF_NAME_SIZE);
        MemorySegment info = arena.allocate(InfoStructs.BTF_SIZE, 8);
        InfoStructs.askBtf(info, data, name);
        return InfoStructs.btf(info(of, of.btf(), info, scratch), data, name);
    }

    Object execute(LinkCommand<?> command) {
        Libc.Scratch scratch = Libc.Scratch.get();
        try (Arena arena = Arena.ofConfined()) {
            return switch (command) {
                case LinkCommand.Create create -> {
                    long size = LinkAttr.encode(scratch.attr, arena, create);
                    int number = kernel.check(create, attaching(LINK_CREATE, scratch, size));
                    yield Fd.of(kernel, number, "link of " + create.what());
                }
                case LinkCommand.Update update ->
                    kernel.check(update, attaching(LINK_UPDATE, scratch, LinkAttr.encode(scratch.attr, update)));
                case LinkCommand.Detach detach -> {
                    LinkAttr.encodeInts(scratch.attr, detach.link().number(), 0, 0);
                    yield kernel.check(detach, attaching(LINK_DETACH, scratch, 4));
                }
                case LinkCommand.OpenRawTracepoint open -> {
                    long size = LinkAttr.encode(scratch.attr, arena, open);
                    int number = kernel.check(open, attaching(RAW_TRACEPOINT_OPEN, scratch, size));
                    yield Fd.of(
                            kernel, number, "link of " + open.program().what() + " to tracepoint " + open.tracepoint());
                }
                case LinkCommand.Attach attach -> {
                    long size = LinkAttr.encodeAttach(
                            scratch.attr, attach.program(), attach.target(), attach.attachType(), attach.flags());
                    yield kernel.check(attach, attaching(PROG_ATTACH, scratch, size));
                }
                case LinkCommand.DetachProgram detach -> {
                    long size = LinkAttr.encodeAttach(
                            scratch.attr, detach.program(), detach.target(), detach.attachType(), 0);
                    yield kernel.check(detach, attaching(PROG_DETACH, scratch, size));
                }
                case LinkCommand.CreateIter iter ->
                    Fd.of(
                            kernel,
                            kernel.check(
                                    iter, ints(ITER_CREATE, scratch, iter.link().number(), 0, 0, 8)),
                            "iterator of " + iter.link().what());
            };
        }
    }

    /** Attaching and detaching may sleep, so a virtual thread must not make the call itself. */
    private static long attaching(int command, Libc.Scratch scratch, long size) {
        return OffCarrier.call(() -> Libc.bpf(command, scratch, size));
    }

    private static long ints(int command, Libc.Scratch scratch, int first, int second, int third, long size) {
        LinkAttr.encodeInts(scratch.attr, first, second, third);
        return Libc.bpf(command, scratch, size);
    }

    /**
     * Kernels before 5.11 charge maps, programs and BTF to RLIMIT_MEMLOCK, 64 KiB by default, and return EPERM when it
     * is used up. So after the first EPERM the limit is raised, if permitted, and the call is repeated.
     */
    private long withMemlock(LongSupplier call) {
        long result = call.getAsLong();
        if (result == -Errno.EPERM.number()
                && memlockRaised.compareAndSet(false, true)
                && kernel.execute(new FileCommand.RaiseMemlock()) == 0) {
            return call.getAsLong();
        }
        return result;
    }
}
