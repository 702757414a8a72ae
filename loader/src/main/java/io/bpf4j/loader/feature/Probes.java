package io.bpf4j.loader.feature;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.linux.PerfSources;
import io.bpf4j.loader.internal.sys.Command;
import io.bpf4j.loader.internal.sys.FailureHints;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.internal.sys.ProgCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.kernel.ProgramType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;

/**
 * Finds out whether the kernel has a feature by trying it. <i>Thread-safe.</i>
 *
 * <p>One class, because it is one table: a line for each feature, with its probe. Three kinds of probes exist.
 * <ul>
 *   <li>Use the feature harmlessly: create a map, load BTF or a program, and close it at once.
 *   <li>Use the feature with an invalid argument, if valid use would have effects: a link to an invalid target. Only a
 *       kernel that knows the feature detects the invalid argument, and its error number shows this.
 *   <li>Read sysfs, if the kernel announces the feature there.
 * </ul>
 * If the kernel refuses the probe (EPERM and similar errors, {@link Denials}), the result is unknown. {@link Feature}
 * has the version and commit that added each feature.
 */
final class Probes {
    private static final int PROGRAM_SLEEPABLE = 1 << 4; // BPF_F_SLEEPABLE
    private static final int MAP_NO_PREALLOC = 1; // BPF_F_NO_PREALLOC
    private static final int MAP_MMAPABLE = 1 << 10; // BPF_F_MMAPABLE

    /** A multiple of the page size of every machine, and a power of two. */
    private static final int RING_SIZE = 1 << 16;

    private static final String LICENSE = "GPL";
    private static final byte[] RETURN_0 = ProbePrograms.returning(0);

    private final Host host;
    private final Kernel kernel;
    private final Path sysfs;
    private final Denials denials;

    Probes(Host host) {
        this.host = host;
        this.kernel = host.kernel();
        this.sysfs = host.sys();
        this.denials = new Denials(host);
    }

    Support probe(Feature feature) {
        try {
            return switch (feature) {
                case BTF -> btf(ProbeBtf.integer());
                case BTF_FUNC -> btf(ProbeBtf.function());
                case BTF_DATASEC -> btf(ProbeBtf.dataSection());
                case BTF_GLOBAL_FUNC -> btf(ProbeBtf.globalFunction());
                case BTF_FLOAT -> btf(ProbeBtf.floatingPoint());
                case BTF_DECL_TAG -> btf(ProbeBtf.declarationTag());
                case BTF_TYPE_TAG -> btf(ProbeBtf.typeTag());
                case BTF_ENUM64 -> btf(ProbeBtf.enum64());
                case ARGUMENT_TAGS -> argumentTags();
                case OBJECT_NAMES -> load(socketFilter(RETURN_0).withName("probe"));
                case SUBPROGRAMS -> load(socketFilter(ProbePrograms.callingFunction()));
                case EXPECTED_ATTACH_TYPE ->
                    // A type that has no attach types, so that only CAP_BPF is needed. The kernel ignores the field's
                    // value then, but must know the field.
                    load(socketFilter(RETURN_0).withExpectedAttachType(AttachType.CGROUP_INET_SOCK_CREATE.number()));
                case GLOBAL_DATA -> globalData();
                case MAP_FREEZE ->
                    onMap(array(), map -> {
                        kernel.execute(new MapCommand.Freeze(map));
                        return Support.yes("an array was frozen");
                    });
                case BOUNDED_LOOPS -> boundedLoops();
                case MMAPABLE_ARRAY -> onMap(array().withFlags(MAP_MMAPABLE), _ -> Support.yes("an array was made so"));
                case PROBE_READ_KERNEL -> load(program(ProgramType.TRACEPOINT, ProbePrograms.readingKernel()));
                case MAP_BATCH -> batch();
                case RING_BUFFER ->
                    onMap(
                            MapCommand.Create.of(MapType.RINGBUF.number(), "", 0, 0, RING_SIZE),
                            _ -> Support.yes("a ring buffer was made"));
                case RUN_STATISTICS -> {
                    try (Fd statistics = kernel.execute(new ProgCommand.EnableStats())) {
                        yield Support.yes(statistics.what() + " were turned on and off");
                    }
                }
                case BLOOM_FILTER ->
                    onMap(
                            MapCommand.Create.of(MapType.BLOOM_FILTER.number(), "", 0, 8, 1),
                            _ -> Support.yes("a bloom filter was made"));
                case USER_RING_BUFFER ->
                    onMap(
                            MapCommand.Create.of(MapType.USER_RINGBUF.number(), "", 0, 0, RING_SIZE),
                            _ -> Support.yes("a user ring buffer was made"));
                case PROGRAM_BIND_MAP -> bindMap();
                case MEMCG_ACCOUNTING ->
                    // The accounting itself can't be probed without side effects; this helper came with the same
                    // release.
                    load(socketFilter(ProbePrograms.callingHelper(ProbePrograms.KTIME_GET_COARSE_NS)));
                case HASH_LOOKUP_AND_DELETE -> lookupAndDelete();
                case SYSCALL_WRAPPER -> syscallWrapper();
                case RAW_TRACEPOINT -> load(program(ProgramType.RAW_TRACEPOINT, RETURN_0));
                case KERNEL_BTF -> file("kernel/btf/vmlinux");
                case PERF_UPROBE -> announced(sources().uprobeType(), "the uprobe perf source");
                case PERF_KPROBE -> announced(sources().kprobeType(), "the kprobe perf source");
                case UPROBE_REF_COUNTER ->
                    announced(sources().refCounterShift(), "ref_ctr_offset of the uprobe perf source");
                case PERF_LINK -> perfLink();
                case BPF_COOKIE ->
                    load(program(ProgramType.TRACEPOINT, ProbePrograms.callingHelper(ProbePrograms.GET_ATTACH_COOKIE)));
                case KPROBE_MULTI_LINK -> kprobeMulti();
                case SLEEPABLE_UPROBE ->
                    load(program(ProgramType.KPROBE, RETURN_0).withFlags(PROGRAM_SLEEPABLE));
                case UPROBE_MULTI_LINK -> uprobeMulti(AttachType.TRACE_UPROBE_MULTI, 0, Errno.EBADF);
                case UPROBE_MULTI_PROCESS ->
                    // Kernels before the fix took the number for a task id and looked it up: ESRCH.
                    uprobeMulti(AttachType.TRACE_UPROBE_MULTI, -1, Errno.EINVAL);
                case UPROBE_SESSION -> uprobeMulti(AttachType.TRACE_UPROBE_SESSION, 0, Errno.EBADF);
                case ARENA ->
                    onMap(
                            MapCommand.Create.of(MapType.ARENA.number(), "", 0, 0, 1)
                                    .withFlags(MAP_MMAPABLE),
                            _ -> Support.yes("an arena was made"));
                case INSN_ARRAY ->
                    onMap(
                            MapCommand.Create.of(MapType.INSN_ARRAY.number(), "", 4, 16, 1),
                            _ -> Support.yes("a map of places was made"));
                case RESIZABLE_HASH ->
                    onMap(
                            MapCommand.Create.of(MapType.RHASH.number(), "", 4, 8, 1)
                                    .withFlags(MAP_NO_PREALLOC),
                            _ -> Support.yes("such a map was made"));
                case TRACING_SESSION -> tracingSession();
                case TRACING_MULTI_LINK -> tracingMulti();
                case STRUCT_OPS_ASSOCIATION ->
                    // An invalid file descriptor: a kernel that knows the command looks it up.
                    onMap(array(), map -> {
                        ProgCommand.AssociateStructOps command = new ProgCommand.AssociateStructOps(-1, map);
                        try {
                            kernel.execute(command);
                            return Support.no("the kernel associated what is no program");
                        } catch (SyscallException e) {
                            return expect(command, "associating what is no program", Errno.EBADF, e.errnoNumber());
                        }
                    });
                // If the flag is unknown, it is an invalid argument.
                case UPROBE_MULTI_DESCRIPTOR -> uprobeMultiDescriptor();
            };
        } catch (SyscallException e) {
            return Denials.isDenial(e.errno())
                    ? Support.unknown(e)
                    : Support.no(e.call() + " failed: " + Errno.describe(e.errnoNumber()));
        }
    }

    private static MapCommand.Create array() {
        return MapCommand.Create.of(MapType.ARRAY.number(), "", 4, 32, 1);
    }

    private static MapCommand.Create hash() {
        return MapCommand.Create.of(MapType.HASH.number(), "", 4, 8, 1);
    }

    private ProgCommand.Load socketFilter(byte[] instructions) {
        return program(ProgramType.SOCKET_FILTER, instructions);
    }

    private ProgCommand.Load program(ProgramType type, byte[] instructions) {
        ProgCommand.Load load = ProgCommand.Load.of(type.number(), "", instructions, LICENSE);
        // Kernels before 5.0 require their own version for kprobes.
        return type == ProgramType.KPROBE
                ? load.withKernelVersion(host.version().code())
                : load;
    }

    private Support btf(byte[] btf) {
        ProgCommand.LoadBtf load = new ProgCommand.LoadBtf("probe", btf, ProgCommand.Log.NONE);
        return switch (kernel.execute(load)) {
            case LoadResult.Loaded loaded -> loaded(loaded, "BTF with it");
            case LoadResult.Refused refused -> denials.of(load, refused.errno(), "BTF with it was refused");
        };
    }

    /** A global function that reads a field of its argument; only a tag says that the argument is the context. */
    private Support argumentTags() {
        ProgCommand.LoadBtf types = new ProgCommand.LoadBtf("probe", ProbeBtf.contextArgument(), ProgCommand.Log.NONE);
        return switch (kernel.execute(types)) {
            case LoadResult.Refused refused -> denials.of(types, refused.errno(), "BTF for it was refused");
            case LoadResult.Loaded loaded -> {
                try (Fd btf = loaded.fd()) {
                    yield load(socketFilter(ProbePrograms.passingContext())
                            .withBtf(btf, ProbeBtf.functionsOfContextArgument(), ProgCommand.InfoTable.NONE));
                }
            }
        };
    }

    private Support load(ProgCommand.Load load) {
        return switch (kernel.execute(load)) {
            case LoadResult.Loaded loaded -> loaded(loaded, "a program with it");
            case LoadResult.Refused refused -> denials.of(load, refused.errno(), "a program with it was refused");
        };
    }

    /**
     * Without CAP_PERFMON the verifier also follows speculative execution, here an endless loop, and fails with E2BIG.
     * A verifier without loop support fails earlier, with EINVAL.
     */
    private Support boundedLoops() {
        ProgCommand.Load loop = socketFilter(ProbePrograms.looping());
        return switch (kernel.execute(loop)) {
            case LoadResult.Loaded loaded -> loaded(loaded, "a program with it");
            case LoadResult.Refused refused
            when Errno.of(refused.errno()) == Errno.E2BIG -> Support.yes("the verifier followed a loop");
            case LoadResult.Refused refused -> denials.of(loop, refused.errno(), "a program with it was refused");
        };
    }

    private static Support loaded(LoadResult.Loaded loaded, String what) {
        loaded.fd().close();
        return Support.yes(what + " was loaded");
    }

    private Support onMap(MapCommand.Create create, Function<Fd, Support> test) {
        try (Fd map = kernel.execute(create)) {
            return test.apply(map);
        }
    }

    /** Loads a program for a further probe; if the program is refused, that is the result for the feature. */
    private Support onProgram(ProgCommand.Load load, Function<Fd, Support> test) {
        return switch (kernel.execute(load)) {
            case LoadResult.Loaded loaded -> {
                try (Fd program = loaded.fd()) {
                    yield test.apply(program);
                }
            }
            case LoadResult.Refused refused ->
                denials.of(load, refused.errno(), "the program to try it with was refused");
        };
    }

    private Support globalData() {
        return onMap(
                array(),
                map -> load(
                        socketFilter(ProbePrograms.writingGlobal(map.number())).withMentioned(List.of(map))));
    }

    private Support batch() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(8, 8);
            MemorySegment position = arena.allocate(8, 8);
            return onMap(hash(), map -> {
                MapCommand.Batch lookup = new MapCommand.Batch(
                        MapCommand.BatchOp.LOOKUP, map, MemorySegment.NULL, position, room, room, 1, 0);
                // The map is empty: a kernel that knows the call says so.
                return expect(
                        lookup,
                        "a lookup in batches of an empty map",
                        Errno.ENOENT,
                        kernel.execute(lookup).errno());
            });
        }
    }

    private Support lookupAndDelete() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(16, 8);
            return onMap(hash(), map -> {
                MapCommand.Element element = new MapCommand.Element(
                        MapCommand.Op.LOOKUP_AND_DELETE, map, room.asSlice(0, 4), room.asSlice(8, 8), 0);
                return expect(element, "lookup-and-delete in an empty hash map", Errno.ENOENT, kernel.execute(element));
            });
        }
    }

    private Support bindMap() {
        return onMap(
                array(),
                map -> onProgram(socketFilter(RETURN_0), program -> {
                    kernel.execute(new ProgCommand.BindMap(program, map));
                    return Support.yes("a map was bound to a program");
                }));
    }

    /** An invalid file descriptor: a kernel that knows perf links looks it up. */
    private Support perfLink() {
        return onProgram(
                program(ProgramType.TRACEPOINT, RETURN_0),
                program -> link(
                        new LinkCommand.Create(
                                "probe of perf links",
                                program,
                                null,
                                -1,
                                AttachType.PERF_EVENT.number(),
                                0,
                                new LinkCommand.Details.PerfEvent(0)),
                        Errno.EBADF));
    }

    /** A function that does not exist: a kernel that knows the link looks it up. */
    private Support kprobeMulti() {
        int type = AttachType.TRACE_KPROBE_MULTI.number();
        return onProgram(
                program(ProgramType.KPROBE, RETURN_0).withExpectedAttachType(type),
                program -> link(
                        LinkCommand.Create.of(
                                "probe of kprobe_multi",
                                program,
                                type,
                                new LinkCommand.Details.KprobeMulti(
                                        new long[0], List.of("bpf4j_no_such_function"), new long[0], false)),
                        Errno.ESRCH));
    }

    /** The root directory can't have a uprobe: a kernel that knows the link detects that it is not a regular file. */
    private Support uprobeMulti(AttachType type, int pid, Errno expected) {
        return onProgram(
                program(ProgramType.KPROBE, RETURN_0).withExpectedAttachType(type.number()),
                program -> link(
                        LinkCommand.Create.of(
                                "probe of uprobe_multi",
                                program,
                                type.number(),
                                new LinkCommand.Details.UprobeMulti(
                                        "/",
                                        OptionalInt.empty(),
                                        new long[1],
                                        new long[0],
                                        new long[0],
                                        pid,
                                        false,
                                        0)),
                        expected));
    }

    /**
     * A program for a function that exists for tests of tracing (net/bpf/test_run.c, since 5.5); it is not attached. A
     * kernel without BTF does not support such programs.
     */
    private Support tracingSession() {
        Optional<Btf> shown = types();
        OptionalInt function =
                shown.isEmpty() ? OptionalInt.empty() : shown.get().find("bpf_fentry_test1", BtfKind.FUNC);
        if (function.isEmpty()) {
            return file("kernel/btf/vmlinux") instanceof Support.Unknown unknown
                    ? unknown
                    : Support.no("the kernel shows no BTF with bpf_fentry_test1, which it would be tried with");
        }
        return load(program(ProgramType.TRACING, RETURN_0)
                .withExpectedAttachType(AttachType.TRACE_FSESSION.number())
                .withAttachTarget(function.getAsInt(), null));
    }

    /** A type that is not a function: only a kernel that knows the link loads the program, and then checks the type. */
    private Support tracingMulti() {
        int type = AttachType.TRACE_FENTRY_MULTI.number();
        return onProgram(
                program(ProgramType.TRACING, RETURN_0).withExpectedAttachType(type),
                program -> link(
                        LinkCommand.Create.of(
                                "probe of tracing_multi",
                                program,
                                type,
                                new LinkCommand.Details.TracingMulti(new int[1], new long[0])),
                        Errno.EINVAL));
    }

    private Support uprobeMultiDescriptor() {
        return onProgram(
                program(ProgramType.KPROBE, RETURN_0).withExpectedAttachType(AttachType.TRACE_UPROBE_MULTI.number()),
                program -> link(
                        LinkCommand.Create.of(
                                "probe of uprobe_multi",
                                program,
                                AttachType.TRACE_UPROBE_MULTI.number(),
                                new LinkCommand.Details.UprobeMulti(
                                        "", OptionalInt.of(-1), new long[1], new long[0], new long[0], 0, false, 0)),
                        Errno.EBADF));
    }

    private Support link(LinkCommand.Create create, Errno expected) {
        try (Fd _ = kernel.execute(create)) {
            return Support.no("the kernel linked what can't be linked");
        } catch (SyscallException e) {
            return expect(create, "a link made wrong on purpose", expected, e.errnoNumber());
        }
    }

    private Support expect(Command<?> command, String what, Errno expected, int errno) {
        if (errno != expected.number() && Denials.isDenial(Errno.of(errno))) {
            return Support.unknown(FailureHints.explained(command, errno, host.rights()));
        }
        String result = what + " gave "
                + (errno == 0
                        ? "success"
                        : Errno.of(errno) == Errno.UNKNOWN
                                ? "errno " + errno
                                : Errno.of(errno).name());
        return errno == expected.number() ? Support.yes(result) : Support.no(result + ", not " + expected.name());
    }

    private PerfSources sources() {
        return host.perfSources();
    }

    private Support announced(OptionalInt number, String what) {
        return number.isPresent() ? Support.yes("sysfs has " + what) : missing("bus", "sysfs does not have " + what);
    }

    private Support file(String path) {
        Path file = sysfs.resolve(path);
        if (Files.exists(file) && !Files.isReadable(file)) {
            return Denials.file(file, Errno.EACCES, "this user may not read it");
        }
        return Files.isReadable(file) ? Support.yes(file + " is there") : missing("kernel", file + " is not there");
    }

    /** A container may have no sysfs, or an empty one: then the result is unknown. */
    private Support missing(String top, String reason) {
        return Files.isDirectory(sysfs.resolve(top))
                ? Support.no(reason)
                : Denials.file(sysfs.resolve(top), Errno.ENOENT, "sysfs is not mounted here");
    }

    /**
     * Entry points of system calls have the architecture in their name if a wrapper exists. This probe reads the
     * kernel's BTF, which is read and indexed for other reasons, too; the symbol list would be read only for this. BTF
     * without the function may be reduced, or written by tools that omit functions: then the result is unknown.
     */
    private Support syscallWrapper() {
        Set<String> names = Set.of("__x64_sys_bpf", "__arm64_sys_bpf", "__s390x_sys_bpf", "__riscv_sys_bpf");
        Optional<String> typed = types().flatMap(btf -> names.stream()
                .filter(name -> btf.find(name, BtfKind.FUNC).isPresent())
                .findFirst());
        if (typed.isPresent()) {
            return Support.yes("the kernel's BTF has " + typed.get());
        }
        try {
            return host.symbols().addresses(names).keySet().stream()
                    .findFirst()
                    .map(name -> Support.yes("the kernel has " + name))
                    .orElse(Support.no("the kernel has no entry point such as __x64_sys_bpf"));
        } catch (AccessDeniedException e) {
            return Denials.file(host.symbols().file(), Errno.EACCES, "this user may not read it");
        } catch (NoSuchFileException e) {
            return Denials.file(
                    host.symbols().file(), Errno.ENOENT, "proc is not mounted here, or the kernel has no KALLSYMS");
        } catch (IOException e) {
            return Denials.file(host.symbols().file(), Errno.EIO, e.toString());
        }
    }

    /** The kernel's BTF, if it is available. */
    private Optional<Btf> types() {
        try {
            return host.types().find();
        } catch (RelocationException e) {
            return Optional.empty();
        }
    }
}
