package io.bpf4j.loader.internal.sys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.internal.attach.LinkKinds;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What the encoders write is what a C compiler writes with the kernel's headers: attr-golden.txt comes from
 * src/test/c/attr-golden.c. Pointers stand there as 0xA1, 0xA2 and so on, in the order of allocation.
 */
class AttrGoldenTest {
    private static final Map<String, String> GOLDEN = golden();

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Fd unused = kernel.newFd("takes number 1000");
    private final Fd first = kernel.newFd("1001");
    private final Fd second = kernel.newFd("1002");
    private final Fd third = kernel.newFd("1003");

    private final Arena arena = Arena.ofConfined();
    private final List<Long> allocated = new ArrayList<>();
    private final SegmentAllocator memory = (size, alignment) -> {
        MemorySegment segment = arena.allocate(size, Math.max(8, alignment));
        allocated.add(segment.address());
        return segment;
    };
    private final MemorySegment attr = arena.allocate(256, 8);

    @BeforeEach
    void fillWithRubbish() {
        assertThat(ByteOrder.nativeOrder()).as("of attr-golden.txt").isEqualTo(ByteOrder.LITTLE_ENDIAN);
        attr.fill((byte) 0x5a); // what an earlier call left behind
    }

    @AfterEach
    void close() {
        List.of(unused, first, second, third).forEach(Fd::close);
        arena.close();
    }

    @Test
    void mapCreate() {
        MapCommand.Create create = new MapCommand.Create(
                1, "events", 4, 8, 16, 0x400, 2, 9, first, second, 5, 6, 7, null, 0x1122334455667788L);
        assertGolden("map_create", MapCreateAttr.encode(attr, create));
        attr.fill((byte) 0x5a);
        assertGolden("map_create_module", MapCreateAttr.encode(attr, create.withKernelValueType(7, third)));
    }

    @Test
    void mapElement() {
        assertGolden(
                "elem",
                MapElementAttr.encode(attr, 1001, MemorySegment.ofAddress(0x10), MemorySegment.ofAddress(0x20), 2));
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
        assertGolden("batch", MapBatchAttr.encode(attr, batch));
        assertThat(MapBatchAttr.count(attr)).isEqualTo(5);
    }

    @Test
    void programLoad() {
        ProgCommand.Load load = ProgCommand.Load.of(2, "on_gc", new byte[16], "GPL")
                .withFlags(0x10)
                .withExpectedAttachType(48)
                .withKernelVersion(0x060102)
                .withIfindex(9)
                .withBtf(first, new ProgCommand.InfoTable(new byte[8], 8), new ProgCommand.InfoTable(new byte[16], 16))
                .withAttachTarget(9, second)
                .withFdArray(List.of(third))
                .withLog(new ProgCommand.Log(1, 64));
        MemorySegment log = memory.allocate(64);
        assertGolden("prog_load", ProgLoadAttr.encode(attr, memory, load, log));
    }

    @Test
    void tokens() {
        assertGolden("token_create", TokenAttr.encode(attr, new TokenCommand.Create(first)));
        MapCommand.Create create = new MapCommand.Create(
                1, "events", 4, 8, 16, 0x400, 2, 9, first, second, 5, 6, 7, null, 0x1122334455667788L);
        assertGolden("map_create_token", TokenAttr.addToMap(attr, MapCreateAttr.encode(attr, create), third));
        attr.fill((byte) 0x5a);
        ProgCommand.Load load =
                ProgCommand.Load.of(2, "on_gc", new byte[16], "GPL").withFlags(0x10);
        MemorySegment log = memory.allocate(64);
        assertGolden(
                "prog_load_token", TokenAttr.addToProgram(attr, ProgLoadAttr.encode(attr, memory, load, log), third));
        attr.fill((byte) 0x5a);
        log = memory.allocate(64);
        ProgCommand.LoadBtf btf = new ProgCommand.LoadBtf("x", new byte[3], new ProgCommand.Log(1, 64));
        assertGolden("btf_load_token", TokenAttr.addToBtf(attr, BtfLoadAttr.encode(attr, memory, btf, log), third));
    }

    @Test
    void btfLoad() {
        MemorySegment log = memory.allocate(64);
        ProgCommand.LoadBtf load = new ProgCommand.LoadBtf("x", new byte[3], new ProgCommand.Log(1, 64));
        assertGolden("btf_load", BtfLoadAttr.encode(attr, memory, load, log));
    }

    @Test
    void pinsIdsAndInformation() {
        assertGolden("pin", ObjectAttr.encodePin(attr, memory, Path.of("/sys/fs/bpf/x"), 1001, 8));
        assertGolden("id", ObjectAttr.encodeId(attr, 7));
        assertGolden("info", ObjectAttr.encodeInfo(attr, 1001, arena.allocate(88, 8)), 0x30L);
    }

    @Test
    void rawTracepoint() {
        LinkCommand.OpenRawTracepoint open = new LinkCommand.OpenRawTracepoint("sys_enter", first, 7);
        assertGolden("raw_tp", LinkAttr.encode(attr, memory, open));
    }

    @Test
    void perfLink() {
        assertGolden(
                "link_perf",
                link(LinkCommand.Create.of("x", first, 41, new LinkCommand.Details.PerfEvent(0x1122334455667788L))
                        .withTarget(second)));
    }

    @Test
    void uprobeMultiLink() {
        assertGolden(
                "link_uprobe_multi",
                link(LinkCommand.Create.of(
                        "x",
                        first,
                        48,
                        new LinkCommand.Details.UprobeMulti(
                                "/lib/x.so",
                                OptionalInt.empty(),
                                new long[] {0x10, 0x20},
                                new long[] {0, 0x30},
                                new long[] {1, 2},
                                77,
                                true,
                                0))));
    }

    @Test
    void uprobeMultiPointsAtOffsetsCountersAndCookies() {
        link(LinkCommand.Create.of(
                "x",
                first,
                48,
                new LinkCommand.Details.UprobeMulti(
                        "/lib/x.so",
                        OptionalInt.empty(),
                        new long[] {0x10, 0x20},
                        new long[0],
                        new long[] {1, 2},
                        0,
                        false,
                        0)));
        assertThat(attr.get(ValueLayout.JAVA_LONG, 32))
                .as("no reference counters")
                .isZero();
        assertThat(allocated).as("path, offsets, cookies").hasSize(3);
    }

    @Test
    void anOpenFileOfAMultiLinkIsADescriptorInPlaceOfThePath() {
        link(LinkCommand.Create.of(
                "x",
                first,
                48,
                new LinkCommand.Details.UprobeMulti(
                        "", OptionalInt.of(7), new long[] {0x10}, new long[0], new long[0], 0, false, 0)));
        assertThat(attr.get(ValueLayout.JAVA_LONG, 16)).as("path").isZero();
        assertThat(attr.get(ValueLayout.JAVA_INT, 52))
                .as("BPF_F_UPROBE_MULTI_PATH_FD")
                .isEqualTo(2);
        assertThat(attr.get(ValueLayout.JAVA_INT, 60)).as("path_fd").isEqualTo(7);
    }

    @Test
    void kprobeMultiLink() {
        assertGolden(
                "link_kprobe_multi",
                link(LinkCommand.Create.of(
                        "x",
                        first,
                        42,
                        new LinkCommand.Details.KprobeMulti(
                                new long[] {0x10, 0x20}, List.of(), new long[] {1, 2}, true))));
    }

    @Test
    void tracingMultiLink() {
        assertGolden(
                "link_tracing_multi",
                link(LinkCommand.Create.of(
                        "x", first, 59, new LinkCommand.Details.TracingMulti(new int[] {4711, 4712}, new long[] {1, 2
                        }))));
    }

    @Test
    void linkUpdateAndAttach() {
        assertGolden("link_update", LinkAttr.encode(attr, new LinkCommand.Update(first, second, third, 0)));
        assertGolden("attach", LinkAttr.encodeAttach(attr, first, second, 4, 2));
        assertGolden("bind", LinkAttr.encodeInts(attr, 1, 2, 3));
        assertGolden("associate", LinkAttr.encodeInts(attr, 1, 2, 0));
    }

    @Test
    void testRun() {
        MemorySegment dataOut = memory.allocate(32);
        MemorySegment contextOut = memory.allocate(16);
        MemorySegment contextIn = memory.allocate(4);
        ProgCommand.TestRun run = new ProgCommand.TestRun(first, new byte[2], 32, new byte[4], 16, 3, 1, 2, 7);
        assertGolden("test_run", TestRunAttr.encode(attr, memory, run, dataOut, contextIn, contextOut));
    }

    @Test
    void readStream() {
        MemorySegment bytes = memory.allocate(64);
        assertGolden("stream_read", StreamReadAttr.encode(attr, new ProgCommand.ReadStream(first, 2, 64), bytes));
    }

    @Test
    void perfEvent() {
        PerfCommand.Open open =
                new PerfCommand.Open("x", 8, 0x100000001L, "/lib/x.so", 0, 0x1f40, 99, true, 0x400, 1, true, -1, 0);
        assertGolden("perf", PerfEventAttr.encode(attr, memory, open));
    }

    @Test
    void bitFieldsStartAtTheHighEndOnBigEndianMachines() {
        assertThat(PerfEventAttr.bit(0, ByteOrder.LITTLE_ENDIAN)).isEqualTo(1L);
        assertThat(PerfEventAttr.bit(0, ByteOrder.BIG_ENDIAN)).isEqualTo(Long.MIN_VALUE);
        assertThat(PerfEventAttr.bit(10, ByteOrder.BIG_ENDIAN)).isEqualTo(1L << 53);
    }

    @Test
    void mapInfo() {
        assertThat(InfoStructs.map(read("map_info")))
                .isEqualTo(new MapInfo(1, 2, 4, 8, 16, 0x400, "events", 3, 4, 5, 6, 7));
    }

    @Test
    void programInfo() {
        assertThat(InfoStructs.program(read("prog_info")))
                .isEqualTo(new ProgInfo(2, 3, "59f4a931744dcdc6", "on_gc", 20, 16, 4, 5, 6, 7, 8, 9, 10, 11, true));
    }

    @Test
    void idsOfMapsAreAskedFor() {
        attr.fill((byte) 0);
        MemorySegment ids = memory.allocate(8);
        InfoStructs.askMapIds(attr, ids);
        assertGolden("prog_info_ask", InfoStructs.PROG_SIZE);
    }

    @Test
    void linkInfo() {
        MemorySegment known = arena.allocate(LinkInfoStruct.SIZE, 8).copyFrom(read("link_info"));
        LinkInfo info = LinkInfoStruct.read(known, "/x");
        assertThat(info.type()).isEqualTo(12);
        assertThat(info.id()).isEqualTo(2);
        assertThat(info.programId()).isEqualTo(3);
        assertThat(HexFormat.of().formatHex(info.detail()))
                .isEqualTo(Objects.requireNonNull(GOLDEN.get("link_info")).substring(32));
        assertThat(info.text()).isEqualTo("/x");
    }

    @Test
    void aTextIsAskedForWhereALinkHasOne() {
        MemorySegment text = memory.allocate(64);
        for (String kind : List.of("raw_tp", "iter", "uprobe_multi", "perf_uprobe")) {
            MemorySegment ask = arena.allocate(LinkInfoStruct.SIZE, 8);
            LinkInfoStruct.askText(ask, Objects.requireNonNull(textOf(kind)), text);
            attr.copyFrom(ask);
            allocated.add(text.address());
            assertGolden("link_info_ask_" + kind, LinkInfoStruct.SIZE);
        }
        assertThat(textOf("xdp")).isNull();
        assertThat(textOf("perf_event")).isNull();
    }

    private LinkInfo.@Nullable TextField textOf(String kind) {
        return LinkKinds.text(LinkInfoStruct.read(read("link_info_" + kind), ""));
    }

    @Test
    void btfInfo() {
        MemorySegment data = arena.allocate(4);
        MemorySegment name = arena.allocate(8);
        name.setString(0, "nf");
        BtfInfo info = InfoStructs.btf(read("btf_info"), data, name);
        assertThat(info.id()).isEqualTo(2);
        assertThat(info.name()).isEqualTo("nf");
        assertThat(info.ofKernel()).isTrue();
        assertThat(info.data()).hasSize(4);
        MemorySegment asked = arena.allocate(InfoStructs.BTF_SIZE, 8);
        InfoStructs.askBtf(asked, data, name);
        assertThat(asked.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(data.address());
        assertThat(asked.get(ValueLayout.JAVA_INT, 8)).isEqualTo(4);
        assertThat(asked.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(name.address());
        assertThat(asked.get(ValueLayout.JAVA_INT, 24)).isEqualTo(8);
    }

    @Test
    void namesAreCutAndCleaned() {
        attr.fill((byte) 0);
        Struct.name(attr, 0, "uprobe//usr/bin/x:main");
        assertThat(Struct.name(attr, 0)).isEqualTo("uprobe__usr_bin");
    }

    private long link(LinkCommand.Create create) {
        allocated.clear();
        return LinkAttr.encode(attr, memory, create);
    }

    /** Addresses differ from run to run: the n-th allocated becomes 0xA0 + n, any other the given one. */
    private void assertGolden(String name, long size, long... otherAddress) {
        for (long offset = 0; offset + 8 <= size; offset += 8) {
            long word = attr.get(ValueLayout.JAVA_LONG, offset);
            int index = allocated.indexOf(word);
            if (index >= 0) {
                attr.set(ValueLayout.JAVA_LONG, offset, 0xA1L + index);
            } else if (otherAddress.length > 0 && word > 0xffff_ffffL && offset == 8) {
                attr.set(ValueLayout.JAVA_LONG, offset, otherAddress[0]);
            }
        }
        assertThat(HexFormat.of().formatHex(ScriptedKernel.bytes(attr, size))).isEqualTo(GOLDEN.get(name));
        allocated.clear();
    }

    private MemorySegment read(String name) {
        byte[] bytes = HexFormat.of().parseHex(Objects.requireNonNull(GOLDEN.get(name)));
        MemorySegment segment = arena.allocate(bytes.length, 8);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return segment;
    }

    static Map<String, String> golden() {
        Map<String, String> golden = new HashMap<>();
        try (InputStream in = Objects.requireNonNull(AttrGoldenTest.class.getResourceAsStream("attr-golden.txt"))) {
            new String(in.readAllBytes(), UTF_8).lines().forEach(line -> {
                int space = line.indexOf(' ');
                golden.put(line.substring(0, space), line.substring(space + 1));
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return golden;
    }
}
