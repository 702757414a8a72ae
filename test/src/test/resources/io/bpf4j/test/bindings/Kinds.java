package org.example;

import com.sun.management.ThreadMXBean;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.binding.EventMap;
import io.bpf4j.test.support.Await;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Uses the class of bindings.bpf.o, and returns what is wrong. */
public final class Kinds implements Callable<Object> {
    private final List<String> problems = new ArrayList<>();

    /** Made by the test. */
    public Kinds() {}

    @Override
    public Object call() throws Exception {
        try (Bindings object = Bindings.open().load()) {
            whatJavaWrites(object);
            whatTheProgramWrites(object);
        }
        constants();
        maps();
        viewsWithoutAllocation();
        return problems;
    }

    private void same(String what, Object actual, Object expected) {
        if (!actual.equals(expected)) {
            problems.add(what + " is " + actual + ", not " + expected);
        }
    }

    private static int run(io.bpf4j.loader.Program program) {
        return program.test(TestRun.onData(new byte[64])).returned();
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    /** The values that the program `check` expects. */
    private static Bindings.Kinds expected() {
        Bindings.Address address = new Bindings.Address();
        address.view().halves().high(51).low(52);
        Bindings.KindsUnion1 union = new Bindings.KindsUnion1();
        union.view().or(0x1111111122222222L);
        return new Bindings.Kinds(
                200,
                (byte) -100,
                60000,
                (short) -30000,
                4000000000L,
                -2000000000,
                0xfedcba9876543210L,
                -0x123456789abcdefL,
                true,
                (byte) 'x',
                Bindings.Color.GREEN,
                Bindings.Level.LOW,
                Bindings.Size.HUGE,
                1.5f,
                -2.5,
                "j\u00e4",
                List.of("a", "bcdefghi"),
                bytes("01020304ff"),
                new int[] {65535, 2, 3},
                new short[] {-1, 2},
                new long[] {1, 2, 3, 4, 5, 4294967295L},
                new int[] {-5, 6},
                new long[] {10, 20, 30, -1},
                new boolean[] {true, false, true},
                List.of(Bindings.Color.AZURE, new Bindings.Color(99)),
                new Bindings.Inner(11, 12),
                List.of(new Bindings.Inner(21, 22), new Bindings.Inner(31, 32)),
                new Bindings.Point(41, 42),
                address,
                new Bindings.KindsNameless(61, 62),
                union,
                71,
                72,
                5,
                -33,
                Bindings.Color.BLUE,
                true,
                0xfedcba9876L,
                0xffff888012345678L,
                bytes("800000000000000000000000000000" + "8f"),
                81,
                82,
                83,
                84,
                255);
    }

    private void whatJavaWrites(Bindings object) {
        object.in(expected());
        same("the line of check, after a record was set", run(object.check()), 0);
        same("the record that was set", object.in(), expected());
        same("its hash", object.in().hashCode(), expected().hashCode());
        same("its text", object.in().toString(), expected().toString());

        Bindings.Kinds zero = object.out();
        object.in(zero);
        if (run(object.check()) == 0) {
            problems.add("zeroes are what check expects");
        }
        Bindings.Kinds.View in = object.inView();
        Bindings.Kinds e = expected();
        in.u8(e.u8()).s8(e.s8()).u16(e.u16()).s16(e.s16()).u32(e.u32()).s32(e.s32()).u64(e.u64()).s64(e.s64());
        in.flag(true).letter((byte) 'x').color(e.color()).level(e.level()).size(e.size());
        in.ratio(1.5f).precise(-2.5).comm("j\u00e4").lines(0, "a").lines(1, "bcdefghi").raw(e.raw());
        in.ports(0, 65535).ports(1, 2).ports(2, 3).offsets(0, (short) -1).offsets(1, (short) 2);
        for (int i = 0; i < 6; i++) {
            in.counts(i, i == 5 ? 4294967295L : i + 1);
        }
        in.deltas(0, -5).deltas(1, 6).slots(e.slots()).flags(0, true).flags(2, true);
        in.colors(0, Bindings.Color.BLUE).colors(1, new Bindings.Color(99));
        in.inner().class_(11).value(12);
        in.inners(0).class_(21).value(22);
        in.inners(1, new Bindings.Inner(31, 32));
        in.point(new Bindings.Point(41, 42));
        in.address().halves().high(51).low(52);
        in.nameless().a(61).b(62);
        in.union1().either(0x22222222).or(0x1111111122222222L);
        in.left(71).right(72).few(5).middle(-33).shade(Bindings.Color.BLUE).yes(true).wide(0xfedcba9876L);
        in.pointer(0xffff888012345678L).large(e.large()).wait_(81).segment_(82).twoWords(83).twoWords2(84).last(255);
        same("the line of check, after each member was set", run(object.check()), 0);
    }

    private void whatTheProgramWrites(Bindings object) {
        run(object.fill());
        Bindings.Kinds out = object.out();
        same(
                "what the program wrote",
                out.toString(),
                "Kinds[u8=201, s8=-101, u16=60001, s16=-30001, u32=4000000001, s32=-2000000001,"
                        + " u64=-81985529216486895, s64=-2, flag=true, letter=121, color=1234567, level=-77, size=SMALL,"
                        + " ratio=2.5, precise=0.5, comm=c\udcffd, lines=[p, q], raw=8000000007, ports=[0, 50000, 0],"
                        + " offsets=[-300, 0], counts=[0, 0, 0, 0, 4000000000, 0], deltas=[0, -9],"
                        + " slots=[0, 0, -9223372036854775808, 0], flags=[false, true, false], colors=[RED, GREEN],"
                        + " inner=Inner[class_=1, value=4000000000],"
                        + " inners=[Inner[class_=0, value=0], Inner[class_=0, value=2]], point=Point[x=3, y=65535],"
                        + " address=" + out.address() + ", nameless=KindsNameless[a=4, b=5], union1=" + out.union1()
                        + ", left=7, right=8, few=7, middle=-64, shade=GREEN, yes=true, wide=549755813889, pointer=4660,"
                        + " large=00000009000000000000000000000000, wait_=10, segment_=11, twoWords=12, twoWords2=13,"
                        + " last=14]");
        same("a member of a union", out.address().view().v4(), 0xc0a80001L);
        same("a member of a nameless union", out.union1().view().either(), 6L);
        same("bytes that are not UTF-8", HexFormat.of().formatHex(object.outView().commBytes()), "63ff64" + "00".repeat(13));
        Bindings.Kinds.View view = object.outView();
        same("a view's copy", view.toRecord(), out);
        same("an element", view.ports(1), 50000);
        same("an element", view.counts(4), 4000000000L);
        same("a nested view", view.inners(1).value(), 2L);
        object.in(out);
        same("the first byte that differs, from 1", run(object.same()), 0);
    }

    private void constants() {
        try (Bindings object = Bindings.open()
                .number(-42)
                .unsignedNumber(4000000000L)
                .prefix("GET ")
                .table(new long[] {7, 8, 9})
                .tint(Bindings.Color.BLUE)
                .start(new Bindings.Point(5, 6))
                .configHz(123)
                .total(10)
                .configure(loader -> loader.objectName("renamed"))
                .load()) {
            same("the line of constants", run(object.constants()), 0);
            same("total", object.total(), 11L);
            object.total(20);
            run(object.constants());
            same("total", object.total(), 21L);
            same("number", object.number(), -42);
            same("unsigned_number", object.unsignedNumber(), 4000000000L);
            same("prefix", object.prefix(), "GET ");
            same("table", object.table()[2], 9L);
            same("tint", object.tint(), Bindings.Color.BLUE);
            same("start", object.start(), new Bindings.Point(5, 6));
            same("CONFIG_HZ", object.configHz(), 123);
            same(
                    "the name of a section",
                    object.object().map(".rodata").info().name().startsWith("renamed"),
                    true);
        }
    }

    /** Once the JIT compiler has done its work, for which a busy machine takes its time. */
    private void viewsWithoutAllocation() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] sum = {0};
        try (Bindings object = Bindings.open().load();
                EventMap.Reader ring = object.events().openViews(event -> sum[0] += event.number());
                EventMap.Reader perf = object.samples().openViews(sample -> sum[0] += sample.number());
                EventMap.Reader flexible = object.messages().openViews(message -> sum[0] += message.data(1))) {
            Bindings.Kinds.View in = object.inView();
            Await.until(
                    "members read and written without allocation",
                    () -> {
                        long before = threads.getCurrentThreadAllocatedBytes();
                        for (int i = 0; i < 10_000; i++) {
                            in.u32(i).s64(-i).flag(true).middle(i % 32).ports(1, i);
                            sum[0] += in.u32() + in.s64() + in.middle() + in.ports(1);
                        }
                        return threads.getCurrentThreadAllocatedBytes() - before;
                    },
                    allocated -> allocated < 1000);
            Bindings.Endpoint endpoint = new Bindings.Endpoint(bytes("01020300000000000000000000000000"), 443);
            long[] histogram = new long[8];
            histogram[7] = 70;
            object.histograms().put(1, histogram);
            Await.until(
                    "600 records for which less than 1000 bytes are allocated",
                    () -> {
                        for (int i = 0; i < 200; i++) {
                            object.tallies().put(endpoint, new Bindings.Tally(5, 6));
                            object.closeMap().put("red", Bindings.Color.GREEN);
                            same("the line of maps", run(object.maps()), 0);
                            object.queue().pop();
                        }
                        long before = threads.getCurrentThreadAllocatedBytes();
                        int read = ring.poll(Duration.ZERO) + perf.poll(Duration.ZERO) + flexible.poll(Duration.ZERO);
                        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                        same("the records", read, 600);
                        return allocated;
                    },
                    allocated -> allocated < 1000 || !problems.isEmpty());
        }
    }

    private void maps() {
        List<Bindings.Event> events = new ArrayList<>();
        List<List<Integer>> messages = new ArrayList<>();
        List<String> samples = new ArrayList<>();
        try (Bindings object = Bindings.open().load();
                EventMap.Reader reader = object.events().open(events::add);
                EventMap.Reader perf = object.samples().openViews(s -> samples.add(s.number() + s.comm()));
                EventMap.Reader flexible = object.messages().openViews(message -> {
                    List<Integer> data = new ArrayList<>();
                    for (int i = 0; i < message.length(); i++) {
                        data.add(message.data(i));
                    }
                    messages.add(data);
                })) {
            Bindings.Endpoint endpoint = new Bindings.Endpoint(bytes("01020300000000000000000000000000"), 443);
            object.tallies().put(endpoint, new Bindings.Tally(5, 6));
            long[] histogram = new long[8];
            histogram[7] = 70;
            object.histograms().put(1, histogram);
            object.closeMap().put("red", Bindings.Color.GREEN);

            same("the line of maps", run(object.maps()), 0);
            same("a value by its key", object.tallies().get(endpoint), Optional.of(new Bindings.Tally(55, 6)));
            same("a map by its keys", object.tallies().toMap().get(endpoint), new Bindings.Tally(55, 6));
            List<Bindings.Tally> perCpu = object.perCpu().get(0).orElseThrow();
            same("the sum of all CPUs", perCpu.stream().mapToLong(Bindings.Tally::hits).sum(), 1000L);
            same("an array", object.histograms().get(1).orElseThrow()[0], 10L);
            same("a number without a name", object.closeMap().get("red").orElseThrow().toString(), "77");
            same("an element of a queue", object.queue().pop(), Optional.of(new Bindings.Inner(8, 9)));
            same("events", reader.poll(Duration.ofMinutes(1)), 1);
            same("an event", events, List.of(new Bindings.Event(1L << 40, "e", Bindings.Color.BLUE)));
            flexible.poll(Duration.ofMinutes(1));
            perf.poll(Duration.ofMinutes(1));
            same("samples", samples, List.of("7perf"));
            same("the statistics of a reader", reader.records().stats().records(), 1L);
            same("events when there are none", reader.pollFor(Duration.ZERO), 0L);
            object.tallies().put(endpoint, new Bindings.Tally(5, 6));
            object.closeMap().put("red", Bindings.Color.GREEN);
            same("the line of maps", run(object.maps()), 0);
            same("events of a time", reader.pollFor(Duration.ofMillis(1)), 1L);
            same("messages", messages, List.of(List.of(1, 65535, 3)));
        }
    }
}
