package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.ring.PerfBuffer;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.ring.UserRingBuffer;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FaultInjection;
import io.bpf4j.sys.internal.call.FaultInjection.Figures;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a program does with the loader, whole: each of its system calls fails in turn, with each error of its manual.
 * What is tolerated is listed here, with the reason.
 */
class JourneyFaultsTest {
    private static final ObjectSpec WHOLE = ScriptedLoads.spec("whole.bpf.o");
    private static final ObjectSpec GLOBALS = ScriptedLoads.spec("globals.bpf.o");
    private static final Path DIRECTORY = Path.of("/sys/fs/bpf/app");

    /** The errors of {@code MapCreation} after which a map is made without the types of its elements. */
    private static final Errno[] TYPES_REFUSED = {
        Errno.EINVAL, Errno.ENOTSUPP, Errno.EOPNOTSUPP, Errno.EACCES, Errno.E2BIG
    };

    private static Figures all = Figures.NONE;

    private static Figures add(Figures figures) {
        all = all.and(figures);
        return figures;
    }

    @AfterAll
    static void figures() {
        System.out.println("faults of the loader's journeys: " + all);
    }

    private static boolean hasTypes(Command<?> call) {
        return call instanceof MapCommand.Create create
                && create.types().key() + create.types().value() > 0;
    }

    private static BpfObject whole(ScriptedKernel kernel) {
        return ScriptedLoads.loader(kernel, WHOLE)
                .map("kept", map -> map.withPinByName(false))
                .load();
    }

    /** A load tries again what may have failed because of a signal, and without what can be missing. */
    private static FaultInjection tolerantOfLoads(FaultInjection faults) {
        return faults.naming("whole.bpf.o", "globals.bpf.o")
                .tolerating("loads again, with a log", ProgCommand.Load.class::isInstance)
                .tolerating("loads the BTF again, with a log", call -> call instanceof ProgCommand.LoadBtf)
                .tolerating("makes the map without types", JourneyFaultsTest::hasTypes, TYPES_REFUSED)
                .tolerating("tools don't find the object's metadata", call -> call instanceof ProgCommand.BindMap);
    }

    // Loads

    @Test
    void aLoadWithAPin() {
        Figures figures = add(tolerantOfLoads(new FaultInjection("a load with a pin", kernel -> {
                    boolean loaded = false;
                    try (BpfObject object = ScriptedLoads.loader(kernel, WHOLE)
                            .pinDirectory(DIRECTORY)
                            .load()) {
                        loaded = true;
                        return object.programs().size() + " programs, "
                                + object.maps().size() + " maps, pinned " + kernel.pinned();
                    } finally {
                        if (loaded) { // then what is pinned stays
                            kernel.execute(new FileCommand.Unlink(DIRECTORY.resolve("kept")));
                        }
                    }
                }))
                .naming(DIRECTORY.toString())
                .tolerating("makes the directory of the pin", ObjectCommand.Pin.class::isInstance, Errno.ENOENT)
                .run());
        assertThat(figures.calls()).isGreaterThan(50);
    }

    @Test
    void globalsAndStructsOfFunctions() {
        add(tolerantOfLoads(new FaultInjection("globals and struct_ops", kernel -> {
                    try (BpfObject object = whole(kernel);
                            Link link = object.attachStructOps("control")) {
                        object.global("first").setLong(9);
                        return object.global("first").getLong() + ", " + link.description();
                    }
                }))
                .naming("control")
                .tolerating(
                        "the map has its value",
                        call -> call instanceof MapCommand.Element element
                                && element.map().description().contains("control"),
                        Errno.EBUSY)
                .run());
    }

    @Test
    void aLoadByAToken() {
        add(tolerantOfLoads(new FaultInjection("a load by a token", kernel -> {
                    try (BpfObject object = ScriptedLoads.loader(kernel, GLOBALS)
                            .token(Path.of("/bpffs"))
                            .load()) {
                        return object.maps().size() + " maps";
                    }
                }))
                .naming("/bpffs")
                .run());
    }

    @Test
    void allOfAnObjectIsPinnedAndUnpinned() {
        add(tolerantOfLoads(new FaultInjection("pins of a whole object", kernel -> {
                    try (BpfObject object =
                            ScriptedLoads.loader(kernel, GLOBALS).load()) {
                        object.pinMaps(DIRECTORY);
                        object.pinPrograms(DIRECTORY.resolve("programs"));
                        String seen = kernel.pinned().size() + " pins";
                        object.unpinPrograms(DIRECTORY.resolve("programs"));
                        object.unpinMaps(DIRECTORY);
                        return seen;
                    }
                }))
                .naming(DIRECTORY.toString())
                .leavingPins()
                .tolerating("makes the directory of the pin", ObjectCommand.Pin.class::isInstance, Errno.ENOENT)
                .run());
    }

    // Attachments

    private static ObjectSpec small() {
        FunctionSpec function = Specs.function(
                "on",
                3,
                "kprobe",
                0,
                false,
                List.of(new Instruction(0xb7, 0, 0, 0, 0), new Instruction(0x95, 0, 0, 0, 0)));
        return Specs.object(
                "small.bpf.o",
                ByteOrder.nativeOrder(),
                List.of(ProgramSpec.of("kprobe", function)),
                List.of(function),
                List.of(),
                List.of(),
                Optional.empty());
    }

    /**
     * What to attach to, and with which kernel.
     *
     * @param name which messages contain
     */
    record Hook(String name, Optional<AttachType> type, AttachTarget target, List<Feature> without) {
        Hook(String name, AttachTarget target, Feature... without) {
            this(name, Optional.empty(), target, List.of(without));
        }

        Hook(String name, AttachType type, AttachTarget target) {
            this(name, Optional.of(type), target, List.of());
        }
    }

    static List<Hook> hooks() {
        TargetFile file = TargetFile.of(Path.of("/bin/x"));
        Cgroup group = Cgroup.of(Path.of("/group"));
        return List.of(
                new Hook("lo", AttachType.XDP, Xdp.on(NetDevice.named("lo"))),
                new Hook("do_exit", Kprobe.entry("do_exit").withCookie(7)),
                new Hook("do_exit", Kprobe.entry("do_exit"), Feature.PERF_LINK),
                new Hook("do_exit", AttachType.TRACE_KPROBE_MULTI, KprobeMulti.entry("do_exit", "do_fork")),
                new Hook("/bin/x", Uprobe.at(file, 16).withCookie(7)),
                new Hook("/bin/x", AttachType.TRACE_UPROBE_MULTI, UprobeMulti.at(file, 16, 32, 48)),
                new Hook("clock", PerfEvent.cpuClock(99)),
                new Hook("/group", AttachType.CGROUP_INET_EGRESS, group),
                new Hook("/group", AttachType.CGROUP_INET_EGRESS, group.withoutLink(Cgroup.Sharing.MULTI)),
                new Hook("/dev/lirc0", AttachType.LIRC_MODE2, Lirc.of(Path.of("/dev/lirc0"))));
    }

    @ParameterizedTest
    @MethodSource("hooks")
    void aPlaceToAttachTo(Hook hook) {
        FaultInjection faults = new FaultInjection("attach to " + hook, kernel -> {
                    try (BpfObject object = ScriptedLoads.loader(kernel, small())
                            .features(ScriptedLoads.everything().without(hook.without.toArray(Feature[]::new)))
                            .load()) {
                        Program on = object.program("on");
                        Program typed = hook.type.map(on::forAttachType).orElse(on);
                        try (Link link = typed.attach(hook.target)) {
                            return link.description();
                        }
                    }
                })
                .naming("small.bpf.o", "\"on\"", "on to ", hook.name)
                .tolerating("loads again, with a log", ProgCommand.Load.class::isInstance);
        switch (hook.name) {
            case "clock" -> faults.tolerating("the CPU went offline", PerfCommand.Open.class::isInstance, Errno.ENODEV);
            case "/group" -> {
                if (hook.target instanceof Cgroup group && group.sharing().isPresent()) {
                    faults.tolerating(
                            "asks as other kernels want it", LinkCommand.Query.class::isInstance, Errno.EINVAL);
                }
            }
            case "/dev/lirc0" ->
                faults.tolerating(
                        "others have detached the program", LinkCommand.DetachProgram.class::isInstance, Errno.ENOENT);
            default -> {}
        }
        add(faults.run());
    }

    @Test
    void aLinkFromItsPinToItsEnd() {
        Path pin = DIRECTORY.resolve("link");
        add(new FaultInjection("the life of a link", kernel -> {
                    try (BpfObject object =
                                    ScriptedLoads.loader(kernel, small()).load();
                            Link link = object.program("on")
                                    .forAttachType(AttachType.XDP)
                                    .attach(Xdp.on(NetDevice.of(1)))) {
                        link.pin(pin);
                        try (Link found = Links.pinned(kernel.host(), pin);
                                Descriptor copy = found.descriptor()) {
                            found.update(object.program("on"));
                            String seen = found.info().id() + ", open: " + !copy.isClosed();
                            link.unpin(pin);
                            link.detach();
                            return seen;
                        }
                    }
                })
                .naming("small.bpf.o", "\"on\"", pin.toString(), "on to XDP", "link")
                .leavingPins()
                .tolerating("loads again, with a log", ProgCommand.Load.class::isInstance)
                .tolerating("makes the directory of the pin", ObjectCommand.Pin.class::isInstance, Errno.ENOENT)
                .run());
    }

    // Maps

    @Test
    void aMapFromItsCreationToItsEnd() {
        MapSpec hash = MapSpec.of("hash", MapType.HASH, 4, 8, 16);
        Path pin = DIRECTORY.resolve("hash");
        add(new FaultInjection("the life of a map", kernel -> {
                    try (BpfMap map = Maps.create(kernel.host(), ScriptedLoads.everything(), hash)) {
                        MemorySegment keys = MemorySegment.ofArray(new int[] {1, 2, 3, 4});
                        map.updateAll(keys, MemorySegment.ofArray(new long[] {10, 20, 30, 40}), 4);
                        map.update(key(5), new byte[8], UpdateMode.ANY);
                        map.delete(key(1));
                        map.pin(pin);
                        try (BpfMap found = Maps.pinned(kernel.host(), pin)) {
                            List<Integer> all = new ArrayList<>();
                            found.forEach((key, _) -> all.add(key.get(ValueLayout.JAVA_INT_UNALIGNED, 0)));
                            found.keys().forEach(key -> all.add((int) key[0]));
                            int deleted = found.deleteAll(keys, 4);
                            long drained = found.drain((_, value) -> all.add((int) value.byteSize()));
                            boolean isThere = found.lookup(key(2)).isPresent();
                            found.freeze();
                            map.unpin(pin);
                            return all + ", " + deleted + " deleted, " + drained + " drained, " + isThere;
                        }
                    }
                })
                .naming("hash")
                .leavingPins()
                .tolerating("makes the directory of the pin", ObjectCommand.Pin.class::isInstance, Errno.ENOENT)
                .tolerating(
                        "does without batches",
                        MapCommand.Batch.class::isInstance,
                        Errno.EINVAL,
                        Errno.ENOTSUPP,
                        Errno.EOPNOTSUPP)
                .run());
    }

    private static byte[] key(int number) {
        return new byte[] {(byte) number, 0, 0, 0};
    }

    // Rings

    private static KernelMap ring(ScriptedKernel kernel, MapType type) {
        boolean perf = type == MapType.PERF_EVENT_ARRAY;
        MapSpec spec = MapSpec.of("events", type, perf ? 4 : 0, perf ? 4 : 0, perf ? 8 : 1 << 16);
        return KernelMap.of(Maps.create(kernel.host(), ScriptedLoads.everything(), spec));
    }

    @Test
    void aRingOfRecords() {
        add(new FaultInjection("a ring buffer", kernel -> {
                    kernel.wakeReaders();
                    try (KernelMap map = ring(kernel, MapType.RINGBUF);
                            RingBuffer ring = RingBuffer.open(map);
                            Descriptor forOthers = ring.descriptor()) {
                        MemorySegment memory = kernel.memory(map.fd(), 4096, 4096 + 16);
                        memory.set(ValueLayout.JAVA_INT, 4096, 8);
                        memory.set(ValueLayout.JAVA_LONG, 4096 + 8, 42);
                        memory.set(ValueLayout.JAVA_LONG, 0, 16);
                        List<Long> seen = new ArrayList<>();
                        for (int i = 0; i < 2; i++) { // the second time nothing is there, and the reader waits
                            seen.add((long) ring.poll(
                                    Duration.ofDays(1),
                                    (MemorySegment data) -> seen.add(data.get(ValueLayout.JAVA_LONG_UNALIGNED, 0))));
                        }
                        ring.wakeup();
                        return seen + ", " + forOthers.isClosed();
                    }
                })
                .naming("events")
                .tolerating(
                        "a reader that is awake need not be woken",
                        call -> call instanceof FileCommand.Write || call instanceof FileCommand.Read)
                .run());
    }

    @Test
    void aRingOfEachCpu() {
        add(new FaultInjection("a perf buffer", kernel -> {
                    kernel.wakeReaders();
                    try (KernelMap map = ring(kernel, MapType.PERF_EVENT_ARRAY);
                            PerfBuffer ring = PerfBuffer.open(map)) {
                        ring.pause();
                        int records = ring.poll(Duration.ofDays(1), (MemorySegment _) -> {});
                        ring.resume();
                        return records + " records";
                    }
                })
                .naming("events")
                .tolerating("the CPU went offline", PerfCommand.Open.class::isInstance, Errno.ENODEV)
                .tolerating(
                        "a reader that is awake need not be woken",
                        call -> call instanceof FileCommand.Write || call instanceof FileCommand.Read)
                .run());
    }

    @Test
    void aRingForPrograms() {
        add(new FaultInjection("a user ring buffer", kernel -> {
                    try (KernelMap map = ring(kernel, MapType.USER_RINGBUF);
                            UserRingBuffer ring = UserRingBuffer.open(map)) {
                        return ring.submit(new byte[16]) + ", " + ring.pendingBytes() + " bytes";
                    }
                })
                .naming("events")
                .tolerating("a writer that is awake need not be woken", FileCommand.Write.class::isInstance)
                .run());
    }
}
