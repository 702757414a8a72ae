package io.bpf4j.loader.feature;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.sys.kernel.Errno.EBADF;
import static io.bpf4j.sys.kernel.Errno.EINVAL;
import static io.bpf4j.sys.kernel.Errno.ENODEV;
import static io.bpf4j.sys.kernel.Errno.ENOTSUPP;
import static io.bpf4j.sys.kernel.Errno.ERANGE;
import static io.bpf4j.sys.kernel.Errno.ESRCH;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Linkage;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.SectionKind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ProgramTraits;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.linux.PerfSources;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Finds out whether the kernel has a feature by trying it. <i>Thread-safe.</i>
 *
 * <p>One class, because it is one table: a line for each feature, with its probe. {@link Trial} runs a probe and
 * evaluates the kernel's answer. There are three kinds of probes.
 * <ul>
 *   <li>Use the feature harmlessly: create a map, load BTF or a program, and close it at once.
 *   <li>Use it with an invalid argument, if valid use would have effects: a link to an invalid target. Only a kernel
 *       that knows the feature detects the invalid argument, and its error number shows this.
 *   <li>Read sysfs, if the kernel announces it there: {@link KernelFiles}.
 * </ul>
 * {@link Feature} has the version and commit that added each feature.
 *
 * <p>Tested by {@code FeaturesTest} and {@code FeaturesOnKernelTest}.
 */
final class Probes {
    /** An invalid file descriptor, interface or process. */
    private static final int NONE = -1;

    private static final LinkCommand.Details NO_FUNCTION =
            new LinkCommand.Details.KprobeMulti(new long[0], List.of("bpf4j_no_such_function"), new long[0], false);

    /** The type that all BTF of probes begins with: {@code int}. */
    private static final int INT = 1;

    /** The address of an arena that nobody maps; the kernel requires one before it loads a program with the arena. */
    private static final long ARENA_ADDRESS = 1L << 32;

    private final Host host;
    private final Trial trial;
    private final KernelFiles announced;

    Probes(Host host) {
        this.host = host;
        this.trial = new Trial(host);
        this.announced = new KernelFiles(host);
    }

    Support probe(KernelFeature any) {
        return switch (any) {
            case Feature feature -> feature(feature);
            case ProgramType type -> trial.reachesVerifier(program(type, returnZero()));
            case MapType type -> mapType(type);
            case AttachType type -> attachType(type);
            case KernelFeature.Call call -> calls(call.from(), call.helper());
        };
    }

    private Support feature(Feature feature) {
        return switch (feature) {
            case BTF -> trial.of(btf(_ -> {}));
            // Before functions had a linkage the field was required to be 0, which now means static.
            case BTF_FUNC -> trial.of(btf(btf -> function(btf, Linkage.STATIC)));
            case BTF_DATASEC ->
                trial.of(btf(btf -> {
                    int variable = btf.add(new BtfType.Var("x", INT, Linkage.STATIC));
                    btf.add(new BtfType.Datasec(".bss", 4, List.of(new BtfType.SectionVariable(variable, 0, 4))));
                }));
            case BTF_GLOBAL_FUNC -> trial.of(btf(btf -> function(btf, Linkage.GLOBAL)));
            case BTF_FLOAT -> trial.of(btf(btf -> btf.add(new BtfType.FloatingPoint("x", 4))));
            // A tag on a variable as a whole, which is component -1.
            case BTF_DECL_TAG ->
                trial.of(btf(btf -> btf.add(
                        new BtfType.DeclTag("x", btf.add(new BtfType.Var("x", INT, Linkage.GLOBAL)), -1, false))));
            case BTF_TYPE_TAG -> trial.of(btf(btf -> btf.pointer(btf.add(new BtfType.TypeTag("x", INT, false)))));
            case BTF_ENUM64 ->
                trial.of(btf(btf -> btf.add(new BtfType.Enum64("", 8, false, List.of(new BtfType.EnumValue("x", 0))))));
            case ARGUMENT_TAGS -> argumentTags();
            case OBJECT_NAMES -> trial.of(socketFilter(returnZero()).withName("probe"));
            // A program type without attach types, so that only CAP_BPF is needed. The kernel ignores the field's value
            // then, but must know the field.
            case EXPECTED_ATTACH_TYPE ->
                trial.of(
                        socketFilter(returnZero()).withExpectedAttachType(AttachType.CGROUP_INET_SOCK_CREATE.number()));
            // Writes into the value of an array without a lookup.
            case GLOBAL_DATA ->
                trial.with(
                        map(MapType.ARRAY, 4, 32, 1),
                        map -> trial.of(socketFilter(Assembler.create()
                                        .loadMapValue(R1, map.number(), 16)
                                        .st(8, R1, 0, 42)
                                        .mov(R0, 0)
                                        .exit())
                                .withInstructionFds(List.of(map))));
            case MAP_FREEZE -> trial.with(array(), map -> trial.of(new MapCommand.Freeze(map)));
            // Compares and exchanges 8 bytes of the stack.
            case ATOMIC_EXCHANGE ->
                trial.of(socketFilter(Assembler.create()
                        .st(8, R10, -8, 0)
                        .mov(R0, 0)
                        .mov(R1, 1)
                        .atomic(8, Opcodes.CMPXCHG, R10, -8, R1)
                        .mov(R0, 0)
                        .exit()));
            // For a program that nobody has.
            case EXCLUSIVE_MAP -> trial.of(array().withProgramHash(new byte[32]));
            case MMAPABLE_ARRAY -> trial.of(array().withFlags(MapSpec.F_MMAPABLE));
            case PROBE_READ_KERNEL -> calls(ProgramType.TRACEPOINT, Helper.named("bpf_probe_read_kernel"));
            case RING_BUFFER, BLOOM_FILTER, USER_RING_BUFFER, ARENA, INSN_ARRAY, RESIZABLE_HASH -> type(feature);
            case RAW_TRACEPOINT, KPROBE_MULTI_LINK, UPROBE_MULTI_LINK, UPROBE_SESSION -> type(feature);
            case TRACING_SESSION, TRACING_MULTI_LINK, PERF_LINK -> type(feature);
            case RUN_STATISTICS -> trial.of(new ProgCommand.EnableStats());
            case PROGRAM_BIND_MAP ->
                trial.with(
                        array(),
                        map -> trial.with(
                                socketFilter(returnZero()),
                                program -> trial.of(new ProgCommand.BindMap(program, map))));
            // The accounting itself can't be probed without side effects; the same release added this helper.
            case MEMCG_ACCOUNTING -> calls(ProgramType.SOCKET_FILTER, Helper.named("bpf_ktime_get_coarse_ns"));
            case SYSCALL_WRAPPER -> announced.syscallWrapper();
            case PERF_UPROBE ->
                announced.number(PerfSources.of(host).type(PerfSources.UPROBE), "the uprobe perf source");
            case PERF_KPROBE ->
                announced.number(PerfSources.of(host).type(PerfSources.KPROBE), "the kprobe perf source");
            case UPROBE_REF_COUNTER ->
                announced.number(
                        PerfSources.of(host).firstBit(PerfSources.UPROBE, "ref_ctr_offset"),
                        "ref_ctr_offset of the uprobe perf source");
            case BPF_COOKIE -> calls(ProgramType.TRACEPOINT, Helper.named("bpf_get_attach_cookie"));
            case SLEEPABLE_UPROBE ->
                trial.of(program(ProgramType.KPROBE, returnZero()).withFlags(ProgramSpec.F_SLEEPABLE));
            // Kernels before the fix interpret the number as a task id and look it up: ESRCH.
            case UPROBE_MULTI_PROCESS ->
                linked(AttachType.TRACE_UPROBE_MULTI, uprobe("/", OptionalInt.empty(), NONE), EINVAL);
            // If the flag is unknown, it is an invalid argument.
            case UPROBE_MULTI_DESCRIPTOR ->
                linked(AttachType.TRACE_UPROBE_MULTI, uprobe("", OptionalInt.of(NONE), 0), EBADF);
            // Behind the end of an arena of one page: a kernel that allows such offsets looks where the arena ends.
            case LARGE_MAP_OFFSET ->
                trial.with(
                        map(MapType.ARENA, 0, 0, 1)
                                .withFlags(MapSpec.F_MMAPABLE)
                                .withExtra(ARENA_ADDRESS),
                        map -> trial.of(
                                socketFilter(Assembler.create()
                                                .loadMapValue(R1, map.number(), 1 << 30)
                                                .mov(R0, 0)
                                                .exit())
                                        .withInstructionFds(List.of(map)),
                                ERANGE));
            case STRUCT_OPS_ASSOCIATION ->
                trial.with(array(), map -> trial.of(new ProgCommand.AssociateStructOps(NONE, map), EBADF));
        };
    }

    /** The first type that the feature introduced. */
    private Support type(Feature feature) {
        return Stream.of(MapType.values(), ProgramType.values(), AttachType.values())
                .flatMap(Stream::of)
                .filter(type -> introduced(type).filter(f -> f == feature).isPresent())
                .findFirst()
                .map(this::probe)
                .orElseThrow();
    }

    private static Optional<Feature> introduced(KernelFeature any) {
        return switch (any) {
            case MapType type -> MapTraits.of(type).feature();
            case ProgramType type -> ProgramTraits.of(type).feature();
            case AttachType type -> AttachTraits.of(type).feature();
            case Feature _, KernelFeature.Call _ -> Optional.empty();
        };
    }

    private static void function(BtfBuilder btf, int linkage) {
        btf.add(new BtfType.Func("x", btf.add(new BtfType.FuncProto(0, List.of())), linkage));
    }

    /**
     * A global function, in slot 2, that reads a field of its argument; only a tag declares that the argument is the
     * context. Types 2 to 6: {@code void *}, {@code int(void *)}, two functions of it, and a tag on the argument of the
     * second.
     */
    private Support argumentTags() {
        ProgCommand.LoadBtf types = btf(btf -> {
            int pointer = btf.pointer(0);
            int prototype = btf.add(new BtfType.FuncProto(INT, List.of(new BtfType.Parameter("ctx", pointer))));
            btf.add(new BtfType.Func("probe", prototype, Linkage.GLOBAL));
            int function = btf.add(new BtfType.Func("function", prototype, Linkage.GLOBAL));
            btf.add(new BtfType.DeclTag("arg:ctx", function, 0, false));
        });
        // struct bpf_func_info: slot and type of each of the two.
        ProgCommand.InfoTable functions = new ProgCommand.InfoTable(Struct.ints(0, 4, 2, 5), 8);
        return trial.with(
                types,
                btf -> trial.of(
                        socketFilter(Trial.callingFunction().ldx(4, R0, R1, 0).exit())
                                .withBtf(btf, functions, ProgCommand.InfoTable.NONE)));
    }

    private Support mapType(MapType type) {
        if (type == MapType.STRUCT_OPS) {
            return structOps(0);
        }
        MapTraits row = MapTraits.of(type);
        MapCommand.Create small = map(
                        type,
                        row.keys().small(),
                        row.values().small(),
                        row.entries().small())
                .withFlags(row.flags());
        if (row.has(MapTraits.Trait.HOLDS_MAPS)) {
            return trial.with(array(), inner -> trial.of(small.withInner(inner)));
        }
        if (row.has(MapTraits.Trait.NEEDS_BTF)) {
            return trial.with(
                    btf(_ -> {}),
                    btf -> trial.of(small.withTypes(new MapCommand.ElementTypes(btf, INT, INT, 0, null))));
        }
        return trial.of(small);
    }

    /** A value type that is not a struct of functions: a kernel that knows such maps looks it up. */
    private Support structOps(int flags) {
        return trial.of(
                map(MapType.STRUCT_OPS, 4, 4, 1)
                        .withFlags(flags)
                        .withTypes(new MapCommand.ElementTypes(null, 0, 0, 1, null)),
                ENOTSUPP);
    }

    private Support attachType(AttachType type) {
        return switch (type) {
            // The same kernel version added the program in a value and its attach type.
            case XDP_DEVMAP -> trial.of(map(MapType.DEVMAP, 4, 8, 1));
            case XDP_CPUMAP -> trial.of(map(MapType.CPUMAP, 4, 8, 1));
            // The same kernel version added this field of the context (migrating_sk of struct sk_reuseport_md) and both
            // attach types.
            case SK_REUSEPORT_SELECT, SK_REUSEPORT_SELECT_OR_MIGRATE ->
                trial.of(program(
                        type, Assembler.create().ldx(8, R0, R1, 48).mov(R0, 0).exit()));
            case NETFILTER -> trial.of(program(type, returnZero()));
            case STRUCT_OPS -> structOps(MapSpec.F_LINK);
            case TCX_INGRESS, TCX_EGRESS, NETKIT_PRIMARY, NETKIT_PEER -> linked(type, LinkCommand.Details.NONE, ENODEV);
            case PERF_EVENT -> linked(type, new LinkCommand.Details.PerfEvent(0), EBADF);
            // A function that does not exist: a kernel that knows the link looks it up.
            case TRACE_KPROBE_MULTI, TRACE_KPROBE_SESSION -> linked(type, NO_FUNCTION, ESRCH);
            // A directory can't have a uprobe: a kernel that knows the link detects that it is not a regular file.
            case TRACE_UPROBE_MULTI, TRACE_UPROBE_SESSION -> linked(type, uprobe("/", OptionalInt.empty(), 0), EBADF);
            // A type that is not a function: only a kernel that knows the link loads the program, and then checks it.
            case TRACE_FENTRY_MULTI, TRACE_FEXIT_MULTI, TRACE_FSESSION_MULTI ->
                linked(type, new LinkCommand.Details.TracingMulti(new int[1], new long[0]), EINVAL);
            default -> AttachTraits.of(type).example().isEmpty() ? attached(type) : traced(type, returnZero(), 0);
        };
    }

    /** Attaches with an invalid program descriptor: a kernel that knows the attach type looks the program up. */
    private Support attached(AttachType type) {
        Support program = probe(typeOf(type));
        return program instanceof Support.Present
                ? trial.with(array(), any -> trial.of(new LinkCommand.Attach(null, any, type.number(), 0), EBADF))
                : program;
    }

    /** Links a program to an invalid target. */
    private Support linked(AttachType type, LinkCommand.Details details, Errno expected) {
        return trial.with(
                program(type, returnZero()),
                program -> trial.of(
                        new LinkCommand.Create("probe", program, null, NONE, type.number(), 0, details), expected));
    }

    private static LinkCommand.Details uprobe(String path, OptionalInt descriptor, int pid) {
        return new LinkCommand.Details.UprobeMulti(
                path, descriptor, new long[1], new long[0], new long[0], pid, false, 0);
    }

    /** A program for a target that a kernel with such programs has in its BTF; it is not attached. */
    private Support traced(AttachType type, Assembler code, int flags) {
        AttachTraits row = AttachTraits.of(type);
        String target = row.prefix() + row.example();
        OptionalInt id = announced.type(target, row.kind());
        if (id.isPresent()) {
            return trial.passesCall(
                    program(type, code).withAttachTarget(id.getAsInt(), null).withFlags(flags));
        }
        return announced.file("kernel/btf/vmlinux") instanceof Support.Unknown unknown
                ? unknown
                : new Support.Absent("the kernel exports no BTF with " + target + ", which the probe needs");
    }

    /** Tries a program that may not sleep, then one that may: some helpers are for the latter only. */
    private Support calls(ProgramType from, Helper helper) {
        Assembler code = Assembler.create().call(helper.number()).mov(R0, 0).exit();
        return either(calls(from, code, 0), () -> calls(from, code, ProgramSpec.F_SLEEPABLE));
    }

    private static Support either(Support first, Supplier<Support> second) {
        if (first instanceof Support.Present) {
            return first;
        }
        Support other = second.get();
        return first instanceof Support.Absent || other instanceof Support.Present ? other : first;
    }

    private Support calls(ProgramType from, Assembler code, int flags) {
        return switch (from) {
            case TRACING ->
                either(traced(AttachType.TRACE_FENTRY, code, flags), () -> traced(AttachType.TRACE_ITER, code, flags));
            case LSM ->
                either(traced(AttachType.LSM_MAC, code, flags), () -> traced(AttachType.LSM_CGROUP, code, flags));
            case EXT, STRUCT_OPS ->
                throw new IllegalArgumentException("the helpers of programs of type " + from + " depend on the target");
            default -> {
                ProgCommand.Load load = program(from, code);
                yield trial.passesCall(load.withFlags(load.flags() | flags));
            }
        };
    }

    private static MapCommand.Create array() {
        return map(MapType.ARRAY, 4, 8, 1);
    }

    private static MapCommand.Create map(MapType type, int keySize, int valueSize, int maxEntries) {
        return MapCommand.Create.of(type.number(), "", keySize, valueSize, maxEntries);
    }

    /** The smallest BTF that has the given types after {@link #INT}. */
    private static ProgCommand.LoadBtf btf(Consumer<BtfBuilder> types) {
        BtfBuilder btf = BtfBuilder.create();
        btf.integer("int", 4, BtfType.Int.SIGNED);
        types.accept(btf);
        return new ProgCommand.LoadBtf("probe", btf.toBytes(ByteOrder.nativeOrder()), ProgCommand.Log.NONE);
    }

    private static Assembler returnZero() {
        return Assembler.create().mov(R0, 0).exit();
    }

    private ProgCommand.Load socketFilter(Assembler code) {
        return program(ProgramType.SOCKET_FILTER, code);
    }

    /** A program of the attach type. The kernel does not accept the type of perf links at load. */
    private ProgCommand.Load program(AttachType type, Assembler code) {
        ProgCommand.Load load = program(typeOf(type), code);
        return type == AttachType.PERF_EVENT ? load : load.withExpectedAttachType(type.number());
    }

    private static ProgramType typeOf(AttachType type) {
        return SectionKind.all().stream()
                .filter(kind -> kind.attachType().equals(Optional.of(type)))
                .findFirst()
                .map(SectionKind::type)
                .orElse(ProgramType.TRACEPOINT); // perf links
    }

    /** A program of the type, with the fields that the kernel requires. */
    private ProgCommand.Load program(ProgramType type, Assembler code) {
        ProgCommand.Load load = ProgCommand.Load.of(type.number(), "", Trial.encode(code), "GPL");
        return switch (type) {
            // Kernels before 5.0 require their own version.
            case KPROBE -> load.withKernelVersion(host.version().code());
            case SYSCALL -> load.withFlags(ProgramSpec.F_SLEEPABLE);
            default ->
                ProgramTraits.of(type)
                        .attachType()
                        .map(attachType -> load.withExpectedAttachType(attachType.number()))
                        .orElse(load);
        };
    }
}
