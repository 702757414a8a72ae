package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.ProgramInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the encoders write is what a C compiler writes with the kernel's headers: attr-golden.txt comes from
 * src/test/c/attr-golden.c. Pointers stand there as 0xA1, 0xA2 and so on, in the order of allocation.
 */
class AttrGoldenTest {
    private static final Map<String, String> GOLDEN = RecordedCall.golden();

    /** In {@code struct bpf_prog_info}. */
    private static final int NR_MAP_IDS = 52;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd unused = kernel.newFd("takes number 1000");
    private final Fd first = kernel.newFd("1001");
    private final Fd second = kernel.newFd("1002");
    private final Fd third = kernel.newFd("1003");

    private final Arena arena = Arena.ofConfined();

    @BeforeEach
    void goldenBytesAreLittleEndian() {
        assertThat(ByteOrder.nativeOrder()).as("of attr-golden.txt").isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }

    @AfterEach
    void close() {
        List.of(unused, first, second, third).forEach(Fd::close);
        arena.close();
    }

    private MapCommand.Create create(@Nullable Fd module) {
        return new MapCommand.Create(
                1,
                "events",
                4,
                8,
                16,
                0x400,
                2,
                9,
                0x1122334455667788L,
                first,
                new MapCommand.ElementTypes(second, 5, 6, 7, module),
                new byte[0]);
    }

    @Test
    void mapCreate() {
        assertGolden("map_create", create(null));
        assertGolden("map_create_module", create(third));
    }

    @Test
    void mapElement() {
        MemorySegment attr = arena.allocate(32, 8).fill((byte) 0x5a);
        MapCommand.Element.encode(attr, 1001, MemorySegment.ofAddress(0x10), MemorySegment.ofAddress(0x20), 2);
        assertThat(HexFormat.of().formatHex(ScriptedKernel.bytes(attr, 32))).isEqualTo(GOLDEN.get("elem"));
    }

    @Test
    void mapBatch() {
        MapCommand.Batch batch = new MapCommand.Batch(
                MapCommand.BatchOp.LOOKUP,
                first,
                MemorySegment.ofAddress(0x10),
                MemorySegment.ofAddress(0x20),
                MemorySegment.ofAddress(0x30),
                MemorySegment.ofAddress(0x40),
                5,
                3);
        assertGolden("batch", batch);
    }

    @Test
    void programLoad() {
        ProgCommand.Load load = new ProgCommand.Load(
                2,
                "on_gc",
                new byte[16],
                "GPL",
                0x10,
                9,
                0x060102,
                new ProgCommand.Attachment(48, 9, second),
                new ProgCommand.Types(
                        first, new ProgCommand.InfoTable(new byte[8], 8), new ProgCommand.InfoTable(new byte[16], 16)),
                List.of(third),
                List.of(),
                new ProgCommand.Log(1, 64));
        assertGolden("prog_load", load);
    }

    @Test
    void tokens() {
        assertGolden("token_create", new TokenCommand.Create(first));
        assertGolden("map_create_token", new TokenCommand.With<>(create(null), third));
        ProgCommand.Load load =
                ProgCommand.Load.of(2, "on_gc", new byte[16], "GPL").withFlags(0x10);
        assertGolden("prog_load_token", new TokenCommand.With<>(load, third));
        ProgCommand.LoadBtf btf = new ProgCommand.LoadBtf("x", new byte[3], new ProgCommand.Log(1, 64));
        assertGolden("btf_load_token", new TokenCommand.With<>(btf, third));
    }

    @Test
    void btfLoad() {
        assertGolden("btf_load", new ProgCommand.LoadBtf("x", new byte[3], new ProgCommand.Log(1, 64)));
    }

    @Test
    void pinsIdsAndInformation() {
        assertGolden("pin", new ObjectCommand.Pin(first, Path.of("/sys/fs/bpf/x")));
        assertGolden("get", new ObjectCommand.Get(Path.of("/sys/fs/bpf/x"), 8));
        assertGolden("id", new ObjectCommand.NextId(ObjectCommand.Kind.MAP, 7));
        assertGolden("id", new ObjectCommand.FdById(ObjectCommand.Kind.MAP, 7));
        assertGolden("info", new ObjectCommand.InfoOfMap(first, false));
    }

    @Test
    void rawTracepoint() {
        assertGolden("raw_tp", new LinkCommand.OpenRawTracepoint("sys_enter", first, 7));
    }

    @Test
    void perfLink() {
        assertGolden(
                "link_perf",
                LinkCommand.Create.of("x", first, 41, new LinkCommand.Details.PerfEvent(0x1122334455667788L))
                        .withTarget(second));
    }

    private LinkCommand.Create uprobes(LinkCommand.Details.UprobeMulti details) {
        return LinkCommand.Create.of("x", first, 48, details);
    }

    @Test
    void uprobeMultiLink() {
        assertGolden(
                "link_uprobe_multi",
                uprobes(new LinkCommand.Details.UprobeMulti(
                        "/lib/x.so",
                        OptionalInt.empty(),
                        new long[] {0x10, 0x20},
                        new long[] {0, 0x30},
                        new long[] {1, 2},
                        77,
                        true,
                        0)));
    }

    @Test
    void uprobeMultiPointsAtOffsetsCountersAndCookies() {
        RecordedCall call = RecordedCall.of(uprobes(new LinkCommand.Details.UprobeMulti(
                "/lib/x.so",
                OptionalInt.empty(),
                new long[] {0x10, 0x20},
                new long[0],
                new long[] {1, 2},
                0,
                false,
                0)));
        assertThat(call.word(32)).as("no reference counters").isZero();
        assertThat(call.allocated()).as("path, offsets, cookies").isEqualTo(3);
    }

    @Test
    void anOpenFileOfAMultiLinkIsADescriptorInPlaceOfThePath() {
        RecordedCall call = RecordedCall.of(uprobes(new LinkCommand.Details.UprobeMulti(
                "", OptionalInt.of(7), new long[] {0x10}, new long[0], new long[0], 0, false, 0)));
        assertThat(call.word(16)).as("path").isZero();
        assertThat(call.word(48) >>> 32).as("BPF_F_UPROBE_MULTI_PATH_FD").isEqualTo(2);
        assertThat(call.word(56) >>> 32).as("path_fd").isEqualTo(7);
    }

    @Test
    void kprobeMultiLink() {
        assertGolden(
                "link_kprobe_multi",
                LinkCommand.Create.of(
                        "x",
                        first,
                        42,
                        new LinkCommand.Details.KprobeMulti(
                                new long[] {0x10, 0x20}, List.of(), new long[] {1, 2}, true)));
    }

    @Test
    void tracingMultiLink() {
        assertGolden(
                "link_tracing_multi",
                LinkCommand.Create.of(
                        "x", first, 59, new LinkCommand.Details.TracingMulti(new int[] {4711, 4712}, new long[] {1, 2
                        })));
    }

    @Test
    void linkUpdateAndAttach() {
        assertGolden("link_update", new LinkCommand.Update(first, second, third, 0));
        assertGolden("attach", new LinkCommand.Attach(first, second, 4, 2));
        assertGolden("bind", new ProgCommand.BindMap(first, second));
        assertGolden("associate", new ProgCommand.AssociateStructOps(2, first));
    }

    @Test
    void queries() {
        assertGolden("query", new LinkCommand.Query("x", first, 0, 1, true, true, true, 5));
        assertGolden("task_fd_query", new LinkCommand.TaskFdQuery(77, 5));
    }

    @Test
    void testRun() {
        assertGolden("test_run", new ProgCommand.TestRun(first, new byte[2], 32, new byte[4], 16, 3, 1, 2, 7));
    }

    @Test
    void readStream() {
        assertGolden("stream_read", new ProgCommand.ReadStream(first, 2, 64));
    }

    @Test
    void perfEvent() {
        assertGolden(
                "perf",
                new PerfCommand.Open(
                        "x",
                        8,
                        0x100000001L,
                        "/lib/x.so",
                        0x1f40,
                        99,
                        true,
                        0x400,
                        new PerfCommand.Open.Ring(1, false, false),
                        true,
                        -1,
                        0,
                        null,
                        false));
    }

    @Test
    void bitFieldsStartAtTheHighEndOnBigEndianMachines() {
        assertThat(PerfCommand.Open.bit(0, ByteOrder.LITTLE_ENDIAN)).isEqualTo(1L);
        assertThat(PerfCommand.Open.bit(0, ByteOrder.BIG_ENDIAN)).isEqualTo(Long.MIN_VALUE);
        assertThat(PerfCommand.Open.bit(10, ByteOrder.BIG_ENDIAN)).isEqualTo(1L << 53);
    }

    @Test
    void mapInfo() {
        assertThat(RecordedCall.answered(new ObjectCommand.InfoOfMap(first, false), bytes("map_info")))
                .isEqualTo(new MapInfo(
                        2,
                        "events",
                        1,
                        4,
                        8,
                        16,
                        0x400,
                        7,
                        3,
                        4,
                        5,
                        6,
                        0,
                        0,
                        OptionalLong.empty(),
                        Optional.empty(),
                        OptionalInt.empty()));
    }

    @Test
    void programInfo() {
        assertThat(RecordedCall.answered(new ObjectCommand.InfoOfProgram(first), bytes("prog_info")))
                .isEqualTo(new ProgramInfo(
                        3,
                        "on_gc",
                        2,
                        "59f4a931744dcdc6",
                        16,
                        20,
                        8,
                        Collections.nCopies(11, 0),
                        4,
                        10,
                        true,
                        Duration.ofNanos(9),
                        Duration.ofNanos(5),
                        6,
                        7));
    }

    @Test
    void idsOfMapsAreAskedFor() {
        byte[] information = bytes("prog_info");
        MemorySegment.ofArray(information).set(ValueLayout.JAVA_INT_UNALIGNED, NR_MAP_IDS, 2);
        ObjectCommand.InfoOfProgram command = new ObjectCommand.InfoOfProgram(first);
        assertThat(RecordedCall.request(command, information)).isEqualTo(GOLDEN.get("prog_info_ask"));
        assertThat(RecordedCall.answered(command, information).mapIds()).hasSize(2);
    }

    @Test
    void linkInfo() {
        RawLinkInfo info = RecordedCall.answered(new ObjectCommand.InfoOfLink(first), bytes("link_info"));
        assertThat(info.type()).isEqualTo(12);
        assertThat(info.id()).isEqualTo(2);
        assertThat(info.programId()).isEqualTo(3);
        assertThat(HexFormat.of().formatHex(info.detail()))
                .isEqualTo(Objects.requireNonNull(GOLDEN.get("link_info")).substring(32));
        assertThat(info.text()).isEmpty();
    }

    @Test
    void btfInfo() {
        BtfInfo info = RecordedCall.answered(new ObjectCommand.InfoOfBtf(first), bytes("btf_info"));
        assertThat(info.id()).isEqualTo(2);
        assertThat(info.ofKernel()).isTrue();
        assertThat(info.data()).hasSize(4);
        assertThat(RecordedCall.request(new ObjectCommand.InfoOfBtf(first), bytes("btf_info")))
                .as("4 bytes of types, 64 of a name")
                .isEqualTo("a100000000000000" + "04000000" + "00000000" + "a200000000000000" + "40000000" + "00000000");
    }

    @Test
    void namesAreCutAndCleaned() {
        MemorySegment name = arena.allocate(16);
        Struct.name(name, 0, "uprobe//usr/bin/x:main");
        assertThat(CString.of(name)).isEqualTo("uprobe__usr_bin");
    }

    /** The C compiler's bytes, and zeros in fields that it was not asked for. */
    private static void assertGolden(String name, Command<?> command) {
        String golden = Objects.requireNonNull(GOLDEN.get(name));
        String struct = RecordedCall.of(command).struct();
        assertThat(struct.length()).isGreaterThanOrEqualTo(golden.length());
        assertThat(struct).isEqualTo(golden + "0".repeat(struct.length() - golden.length()));
    }

    private static byte[] bytes(String name) {
        return HexFormat.of().parseHex(Objects.requireNonNull(GOLDEN.get(name)));
    }
}
