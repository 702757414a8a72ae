package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Freplace;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netfilter;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.internal.call.BtfInfo;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RecordedCall;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Each kind of target, from the public record down to the bytes that the kernel is given, which attr-golden.c wrote.
 * The program has descriptor 1001; what a target opens or names, 1002.
 */
class LinkTargetGoldenTest {
    private static final Map<String, String> GOLDEN = RecordedCall.golden();
    private static final NetDevice DEVICE = NetDevice.named("eth0"); // 7 in the scripted kernel
    private static final Path FILE = Path.of("/bin/x");

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd unused = kernel.newFd("takes number 1000");
    private final Fd program = kernel.newFd("program \"p\"");
    private final Arena arena = Arena.ofConfined();
    private final List<MemorySegment> allocated = new ArrayList<>();
    private final SegmentAllocator memory = (size, alignment) -> {
        MemorySegment segment = arena.allocate(size, Math.max(8, alignment));
        allocated.add(segment);
        return segment;
    };

    /** What the kernel was given last, in hexadecimal; pointers are 0xA1, 0xA2, … in the order of allocation. */
    private String given = "";

    @BeforeEach
    void encodeWhatTheKernelIsGiven() {
        kernel.answer(LinkCommand.Create.class, this::encoded);
        assertThat(ByteOrder.nativeOrder()).as("of attr-golden.txt").isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        List.of(unused, program).forEach(Fd::close);
        assertThat(kernel.open()).isEmpty();
        arena.close();
    }

    private Link attach(AttachType type, AttachTarget target) {
        return new Attacher(kernel.host(), ScriptedLoads.everything())
                .attach(program, "p", Optional.ofNullable(type), target);
    }

    private Link attach(AttachTarget target) {
        return new Attacher(kernel.host(), ScriptedLoads.everything()).attach(program, "p", Optional.empty(), target);
    }

    /** Attaches, and compares what the kernel was given. */
    private void assertBytes(String name, AttachType type, AttachTarget target) {
        attach(type, target).close();
        assertThat(given).isEqualTo(GOLDEN.get("target_" + name));
    }

    private void assertBytes(String name, AttachTarget target) {
        attach(target).close();
        assertThat(given).isEqualTo(GOLDEN.get("target_" + name));
    }

    private Fd encoded(LinkCommand.Create create) {
        given = RecordedCall.of(create).struct();
        allocated.clear();
        create.details().encode(arena.allocate(48, 8), memory);
        return kernel.newFd("link of " + create.description());
    }

    private static String hex(MemorySegment segment, long size) {
        return HexFormat.of().formatHex(segment.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void devices() {
        assertBytes("xdp", AttachType.XDP, Xdp.on(NetDevice.of(1)).withMode(Xdp.Mode.GENERIC));
        assertBytes("tcx", AttachType.TCX_INGRESS, Tcx.ingress(DEVICE));
        assertBytes("tcx_first", Tcx.egress(DEVICE).withAnchor(Anchor.first()));
        Anchor byProgram = Anchor.of(Anchor.Side.AFTER, new Anchor.OfProgramId(77));
        assertBytes("tcx_after_program_id", Tcx.ingress(DEVICE).withAnchor(byProgram));
        assertBytes(
                "netkit_peer",
                AttachType.NETKIT_PEER,
                Netkit.peer(DEVICE).withAnchor(Anchor.first().atRevision(3)));
    }

    @Test
    void aPlaceBeforeALink() {
        try (Link other = attach(Tcx.ingress(DEVICE))) { // has descriptor 1002
            assertBytes(
                    "tcx_before_link",
                    Tcx.ingress(DEVICE).withAnchor(Anchor.before(other).atRevision(5)));
            assertThat(Anchor.after(other)).isEqualTo(Anchor.of(Anchor.Side.AFTER, new Anchor.OfLink(other)));
        }
    }

    @Test
    void groupsAndNamespaces() {
        assertBytes("cgroup", AttachType.CGROUP_INET_EGRESS, Cgroup.of(Path.of("/sys/fs/cgroup")));
        Anchor byId = Anchor.of(Anchor.Side.BEFORE, new Anchor.OfLinkId(9));
        assertBytes(
                "cgroup_before_link_id",
                Cgroup.of(Path.of("/sys/fs/cgroup"))
                        .withAttachType(AttachType.CGROUP_INET_EGRESS)
                        .withAnchor(byId));
        assertBytes("netns", AttachType.SK_LOOKUP, NetNamespace.own());
        assertBytes(
                "netfilter",
                AttachType.NETFILTER,
                Netfilter.ipv4(Netfilter.Hook.LOCAL_IN, -100).withDefragmentation());
    }

    @Test
    void maps() {
        try (KernelMap map = KernelMap.create(kernel.host(), MapCommand.Create.of(15, "sockets", 4, 4, 2), "sockets")) {
            assertBytes("sockmap", AttachType.SK_MSG_VERDICT, Sockmap.of(map));
            assertIter("iter_map", "map", Iter.elements(map));
        }
        program.close();
        try (KernelMap map =
                KernelMap.create(kernel.host(), MapCommand.Create.of(26, "ops", 4, 64, 1), "ops")) { // 1001
            StructOpsKind.link(map).close();
            assertThat(given).isEqualTo(GOLDEN.get("target_struct_ops"));
        }
    }

    @Test
    void iterators() {
        assertBytes("iter", AttachType.TRACE_ITER, Iter.all());
        assertIter("iter_cgroup", "cgroup", Iter.cgroups(Path.of("/sys/fs/cgroup"), Iter.Walk.DESCENDANTS_POST));
        assertIter("iter_cgroup", "process", Iter.process(42));
        assertIter("iter_cgroup", "thread", Iter.thread(43));
    }

    private void assertIter(String name, String info, Iter over) {
        assertBytes(name, AttachType.TRACE_ITER, over);
        MemorySegment pointedAt = allocated.getFirst();
        assertThat(hex(pointedAt, pointedAt.byteSize())).isEqualTo(GOLDEN.get("iter_info_" + info));
    }

    @Test
    void functionsOfTheKernel() {
        assertBytes("fentry_cookie", AttachType.TRACE_FENTRY, Tracing.asLoaded().withCookie(7));
        assertBytes(
                "kprobe_session",
                AttachType.TRACE_KPROBE_SESSION,
                KprobeMulti.entry("vfs_read", "vfs_write").withCookies(1, 2));
        attach(AttachType.TRACE_FENTRY, Tracing.asLoaded()).close();
        attach(AttachType.TRACE_RAW_TP, Tracing.asLoaded().withCookie(9)).close();
        attach(RawTracepoint.of("sys_enter").withCookie(8)).close();
        assertThatThrownBy(() -> attach(Tracing.asLoaded().withCookie(9)))
                .as("a cookie that the kernel may drop")
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("attach type that the program was loaded for is unknown");
        assertThat(kernel.commands(LinkCommand.OpenRawTracepoint.class))
                .extracting(LinkCommand.OpenRawTracepoint::tracepoint, LinkCommand.OpenRawTracepoint::cookie)
                .containsExactly(tuple("", 0L), tuple("", 9L), tuple("sys_enter", 8L));
    }

    @Test
    void sitesOfASession() {
        assertBytes(
                "uprobe_session",
                AttachType.TRACE_UPROBE_SESSION,
                UprobeMulti.at(TargetFile.of(FILE), 16, 32).withCookies(1, 2));
    }

    @Test
    void perfEvents() {
        PerfEvent clock = PerfEvent.cpuClock(99).onCpu(0).withCookie(7);
        assertBytes("perf_event", clock);
        PerfCommand.Open open = kernel.commands(PerfCommand.Open.class).getLast();
        assertThat(open.pid()).isEqualTo(-1);
        assertThat(open.cpu()).isZero();
        assertThat(RecordedCall.of(open).struct()).isEqualTo(GOLDEN.get("perf_clock"));
        assertBytes("perf_event", OpenPerfEvent.of(3).withCookie(7));
        assertThat(kernel.commands(FileCommand.Duplicate.class).getLast().number())
                .isEqualTo(3);
    }

    /** The function's id is looked up in the BTF of the program that has it. */
    @Test
    void aFunctionOfAnotherProgram() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("int", 4, 1);
        int prototype = types.add(new BtfType.FuncProto(number, List.of()));
        int function = types.add(new BtfType.Func("inner", prototype, 1));
        kernel.answer(ObjectCommand.InfoOfProgram.class, of -> ScriptedKernel.program(5, 4));
        kernel.answer(ObjectCommand.FdById.class, byId -> kernel.newFd("btf " + byId.id()));
        kernel.answer(
                ObjectCommand.InfoOfBtf.class, of -> new BtfInfo(4, "", false, types.toBytes(ByteOrder.nativeOrder())));
        try (Fd other = kernel.newFd("program \"main\"")) {
            assertThat(function).isEqualTo(3);
            assertBytes("freplace", Freplace.of(ScriptedLoads.program(kernel, other, "main"), "inner"));
        }
    }

    @Test
    void aTextIsAskedForWhereALinkHasOne() {
        for (String kind : List.of("raw_tp", "iter", "uprobe_multi", "perf_uprobe")) {
            assertThat(RecordedCall.request(Objects.requireNonNull(textOf(kind))))
                    .isEqualTo(GOLDEN.get("link_info_ask_" + kind));
        }
        assertThat(textOf("xdp")).isNull();
        assertThat(textOf("perf_event")).isNull();
    }

    private RawLinkInfo.@Nullable TextField textOf(String kind) {
        byte[] information = HexFormat.of().parseHex(Objects.requireNonNull(GOLDEN.get("link_info_" + kind)));
        return LinkKinds.text(RecordedCall.answered(new ObjectCommand.InfoOfLink(program), information));
    }
}
