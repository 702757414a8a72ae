package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.EXCEPTIONS;
import static io.bpf4j.test.support.Requirement.FENTRY;
import static io.bpf4j.test.support.Requirement.LIRC;
import static io.bpf4j.test.support.Requirement.LSM;
import static io.bpf4j.test.support.Requirement.OPEN_CODED_ITERATORS;
import static io.bpf4j.test.support.Requirement.TRACEFS;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI_PROCESS;
import static io.bpf4j.test.support.Requirement.UPROBE_SESSION;
import static io.bpf4j.test.support.Requirement.VARIABLE_SYMBOLS;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.ring.PerfBuffer;
import io.bpf4j.loader.ring.UserRingBuffer;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.OwnCgroup;
import io.bpf4j.test.support.Requirement;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The table of trials. A kind of program that the kernel runs on request is run; others are attached, and what they
 * wait for is made to happen; of some only the load is a trial, and the reason stands beside them.
 */
final class CorpusTrials {
    /** Of a server in a network of this test's own. */
    private static final int PORT = 42_317;

    /** What all programs of an object need. */
    private static final Map<String, List<Requirement>> OBJECTS = Map.ofEntries(
            entry("functions_sleeping", List.of(Requirement.KERNEL_FUNCTIONS)),
            entry("group_storage", List.of(Requirement.GROUP_STORAGE)),
            entry("exceptions", List.of(EXCEPTIONS)),
            entry("group_unix", List.of(EXCEPTIONS)),
            entry("instructions_v4", List.of(Requirement.INSTRUCTIONS_V4)),
            entry("iterators", List.of(OPEN_CODED_ITERATORS)),
            entry("kfuncs", List.of(Requirement.KERNEL_FUNCTIONS)),
            entry("locks_nested", List.of(Requirement.KERNEL_FUNCTIONS)),
            entry("may_goto", List.of(Requirement.MAY_GOTO)),
            entry("objects", List.of(Requirement.KERNEL_FUNCTIONS)),
            entry("work", List.of(Requirement.WORK_QUEUES)),
            entry("inode_storage", List.of(LSM)),
            entry("netfilter", List.of(OPEN_CODED_ITERATORS)),
            entry("tasks", List.of(Requirement.WORK_QUEUES)),
            entry("variables", List.of(VARIABLE_SYMBOLS)));

    /** Attached by its section, and files are used. */
    private static final CorpusTrial.Run AT_FILES = attached(Program::attach, CorpusEvents::ofFiles);

    /** Programs that are not tried as their kind is. */
    private static final Map<String, CorpusTrial> PROGRAMS = Map.ofEntries(
            entry("corpus/rings.bpf.o:perf_event_array", CorpusTrial.of(CorpusTrials::perfEventArray)),
            entry(
                    "corpus/rings.bpf.o:user_ring_buffer",
                    CorpusTrial.of(CorpusTrials::userRing, Requirement.USER_RING_BUFFER)),
            entry("corpus/groups.bpf.o:task_of_group", CorpusTrial.of(CorpusTrials::taskOfGroup, CGROUP2)),
            entry("corpus/redirects.bpf.o:to_device", CorpusTrial.of(filled("devices", 1, 4))),
            entry("corpus/redirects.bpf.o:to_device_by_number", CorpusTrial.of(filled("devices_by_number", 1, 8))),
            entry("corpus/redirects.bpf.o:to_processor", CorpusTrial.of(filled("processors", 192, 8))),
            entry("corpus/redirects.bpf.o:at_device", CorpusTrial.of(loaded("runs behind a device's redirection"))),
            entry("corpus/redirects.bpf.o:at_device_in_pieces", CorpusTrial.of(loaded("as at_device"))),
            entry("corpus/redirects.bpf.o:at_processor", CorpusTrial.of(loaded("runs on the processor of a slot"))),
            entry("corpus/redirects.bpf.o:at_processor_in_pieces", CorpusTrial.of(loaded("as at_processor"))),
            entry("corpus/group_unix.bpf.o:peer", CorpusTrial.of(loaded("Java never asks for a peer's name"))),
            entry(
                    "corpus/group_unix.bpf.o:send",
                    CorpusTrial.of(loaded("of datagrams, which Java's unix sockets are not"))),
            entry("corpus/group_unix.bpf.o:receive", CorpusTrial.of(loaded("as send"))),
            entry("corpus/group_hooks.bpf.o:peer_4", CorpusTrial.of(loaded("Java never asks for a peer's name"))),
            entry("corpus/group_hooks.bpf.o:peer_6", CorpusTrial.of(loaded("as peer_4"))),
            entry("corpus/timers.bpf.o:at_time", CorpusTrial.of(CorpusTrials::later)),
            entry("corpus/work.bpf.o:work_queue", CorpusTrial.of(CorpusTrials::later)),
            entry("corpus/functions_sleeping.bpf.o:in_place", CorpusTrial.of(CorpusTrials::besideEnters, FENTRY)),
            entry("corpus/probes.bpf.o:enters_many", CorpusTrial.of(AT_FILES, UPROBE_MULTI)),
            entry(
                    "corpus/probes.bpf.o:returns",
                    CorpusTrial.of(
                            inOwnProcess(Uprobe.exit(library(), "fdopendir").inProcess(ownProcess())))),
            entry(
                    "corpus/probes.bpf.o:returns_from_many",
                    CorpusTrial.of(
                            inOwnProcess(
                                    UprobeMulti.exit(library(), "fdopendi?").inProcess(ownProcess())),
                            UPROBE_MULTI_PROCESS)),
            entry("corpus/probes.bpf.o:enters_and_returns", CorpusTrial.of(AT_FILES, UPROBE_SESSION)),
            entry("corpus/probes.bpf.o:at_probe", CorpusTrial.of(loaded("the section names no probe"))),
            entry(
                    "corpus/tracing.bpf.o:system_call",
                    CorpusTrial.of(AT_FILES, TRACEFS).before(loader -> Bpf.only(loader, ownProcess()))),
            entry(
                    "corpus/functions.bpf.o:in_place",
                    CorpusTrial.of(CorpusTrials::tracing, FENTRY, Requirement.KERNEL_FUNCTIONS)),
            entry("corpus/security.bpf.o:binds_in_group", CorpusTrial.of(CorpusTrials::inGroup, CGROUP2, LSM)),
            entry(
                    "corpus/sockets.bpf.o:connections",
                    CorpusTrial.of(CorpusTrials::connections, CGROUP2)
                            .before(loader -> loader.global("target_port", PORT))));

    private CorpusTrials() {}

    static List<String> objects() {
        return OBJECTS.keySet().stream()
                .map(name -> "corpus/" + name + ".bpf.o")
                .toList();
    }

    static Set<String> programs() {
        return PROGRAMS.keySet();
    }

    static CorpusTrial of(String object, ProgramSpec program) {
        String shortName = object.replace("corpus/", "").replace(".bpf.o", "");
        CorpusTrial own = PROGRAMS.get(object + ":" + program.name());
        return (own == null ? ofKind(program) : own).needing(OBJECTS.getOrDefault(shortName, List.of()));
    }

    private static CorpusTrial ofKind(ProgramSpec program) {
        return switch (program.type()) {
            case SOCKET_FILTER,
                    SCHED_CLS,
                    SCHED_ACT,
                    XDP,
                    CGROUP_SKB,
                    LWT_IN,
                    LWT_OUT,
                    LWT_XMIT,
                    FLOW_DISSECTOR,
                    NETFILTER -> CorpusTrial.of(run(TestRun.onData(packet())));
            case LWT_SEG6LOCAL -> CorpusTrial.of(loaded("needs a route over segments"));
            case SK_LOOKUP -> CorpusTrial.of(run(TestRun.onContext(lookup())));
            case RAW_TRACEPOINT -> CorpusTrial.of(run(TestRun.onContext(new byte[16])));
            case SYSCALL -> CorpusTrial.of(run(TestRun.onContext(new byte[16])));
            case CGROUP_SOCK, CGROUP_SOCK_ADDR, CGROUP_SYSCTL, CGROUP_SOCKOPT, CGROUP_DEVICE, SOCK_OPS ->
                CorpusTrial.of(CorpusTrials::inGroup, CGROUP2);
            case TRACEPOINT -> CorpusTrial.of(AT_FILES, TRACEFS);
            case KPROBE -> CorpusTrial.of(AT_FILES);
            case RAW_TRACEPOINT_WRITABLE -> CorpusTrial.of(loaded("the one there is needs a network block device"));
            case PERF_EVENT ->
                CorpusTrial.of(attached(p -> p.attach(PerfEvent.cpuClock(500)), CorpusEvents::ofProcessor));
            case TRACING -> ofTracing(program);
            case LSM -> CorpusTrial.of(AT_FILES, LSM);
            case LIRC_MODE2 -> CorpusTrial.of(loaded("needs a remote control"), LIRC);
            case SK_REUSEPORT -> CorpusTrial.of(loaded("is attached by a socket option that Java does not have"));
            case SK_SKB, SK_MSG -> CorpusTrial.of(loaded("runs with program connections of its object"));
            case UNSPEC, STRUCT_OPS, EXT ->
                throw new AssertionError(program.name() + ": of this kind there is nothing in the corpus");
        };
    }

    private static CorpusTrial ofTracing(ProgramSpec program) {
        return switch (program.kind().orElseThrow().attachType().orElseThrow()) {
            case TRACE_RAW_TP -> CorpusTrial.of(AT_FILES);
            case TRACE_ITER -> CorpusTrial.of(CorpusTrials::read);
            // The kernel calls functions of its own, to which the program is attached, when it is to be tried.
            default -> CorpusTrial.of(CorpusTrials::tracing, FENTRY);
        };
    }

    private static int tracing(BpfObject object, Program program) throws Exception {
        return attached(Program::attach, () -> program.test(TestRun.once())).failedLine(object, program);
    }

    /** The function is called to try a program at its start, which is how this one gets its turn. */
    private static int besideEnters(BpfObject object, Program program) throws Exception {
        return attached(Program::attach, () -> object.program("enters").test(TestRun.once()))
                .failedLine(object, program);
    }

    private static CorpusTrial.Run run(TestRun run) {
        return (object, program) -> {
            TestRun.Result result = program.test(run);
            return reports(object) ? reported(object) : result.returned();
        };
    }

    /** The program's packet redirected after slot 1 (of processors: 0) of a map of that value size has a value. */
    private static CorpusTrial.Run filled(String map, int value, int size) {
        int slot = map.equals("processors") ? 0 : 1;
        return (object, program) -> {
            object.map(map).update(Bpf.key(slot), Bpf.bytes(size).putInt(value).array());
            return run(TestRun.onData(packet())).failedLine(object, program);
        };
    }

    /** The program leaves something to be done later, which reports. */
    private static int later(BpfObject object, Program program) throws Exception {
        int line = program.test(TestRun.onData(packet())).returned();
        if (line != 0) {
            return line;
        }
        Await.until("what program " + program.name() + " has put off", () -> Bpf.u32(object, "runs") > 0);
        return reported(object);
    }

    private static int perfEventArray(BpfObject object, Program program) throws Exception {
        try (PerfBuffer events = PerfBuffer.open(object.map("events"))) {
            int line = run(TestRun.onData(packet())).failedLine(object, program);
            if (line == 0) {
                // The record is there, whichever CPU the program ran on.
                int[] records = {0};
                events.consume((_, _, _, _) -> records[0]++);
                assertThat(records[0]).as("records").isEqualTo(1);
            }
            return line;
        }
    }

    private static int userRing(BpfObject object, Program program) throws Exception {
        try (UserRingBuffer ring = UserRingBuffer.open(object.map("from_user"))) {
            for (long number : new long[] {40, 2}) {
                try (UserRingBuffer.Sample sample = ring.reserve(8).orElseThrow()) {
                    sample.data().set(ValueLayout.JAVA_LONG, 0, number);
                    sample.submit();
                }
            }
            return run(TestRun.onData(packet())).failedLine(object, program);
        }
    }

    private static int taskOfGroup(BpfObject object, Program program) throws Exception {
        // The map takes the number of an open descriptor, which no Java API gives.
        try (Fd group =
                Kernel.of(Host.running()).execute(new FileCommand.Open(OwnCgroup.directory(), OpenFlags.RDONLY))) {
            object.map("groups").update(Bpf.key(1), Bpf.key(group.number()));
        }
        return run(TestRun.onContext(new byte[16])).failedLine(object, program);
    }

    /** Connections go into the maps of sockets; what is sent through them passes the other programs of the object. */
    private static int connections(BpfObject object, Program program) throws Exception {
        InetAddress self = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (OwnGroup group = OwnGroup.enter();
                OwnNetwork _ = OwnNetwork.enter();
                ServerSocket server = new ServerSocket(PORT, 1, self);
                Link connections = program.attach(Cgroup.of(group.directory()));
                Link messages = object.program("message").attach(Sockmap.of(object.map("by_end")));
                Link streams = object.program("stream_verdict").attach(Sockmap.of(object.map("by_end")));
                Socket client = new Socket(self, PORT);
                Socket accepted = server.accept()) {
            client.getOutputStream().write(42);
            assertThat(accepted.getInputStream().read()).isEqualTo(42);
            assertThat(List.of(connections, messages, streams)).noneMatch(Link::isClosed);
            return reported(object);
        }
    }

    /** Nothing but the load: for the reason given. */
    private static CorpusTrial.Run loaded(String reason) {
        assertThat(reason).isNotBlank();
        return (object, program) -> 0;
    }

    private static CorpusTrial.Run attached(Function<Program, Link> attach, Bpf.Event event) {
        return (object, program) -> {
            try (Link link = attach.apply(program)) {
                assertThat(link.isClosed()).isFalse();
                Await.until("a run of program " + program.name(), () -> {
                    event.happen();
                    return Bpf.u32(object, "runs") > 0;
                });
                return reported(object);
            }
        };
    }

    /** For a check that holds in this process alone: another one may call the function with what it refuses. */
    private static CorpusTrial.Run inOwnProcess(AttachTarget target) {
        return (object, program) -> {
            int line = attached(p -> p.attach(target), CorpusEvents::ofFiles).failedLine(object, program);
            // As the others, by the section.
            program.attach().close();
            return line;
        };
    }

    private static Path library() {
        return LibrarySearch.ofThisMachine().find("libc.so.6");
    }

    private static int ownProcess() {
        return Math.toIntExact(ProcessHandle.current().pid());
    }

    private static int inGroup(BpfObject object, Program program) throws Exception {
        try (OwnGroup group = OwnGroup.enter()) {
            return attached(p -> p.attach(Cgroup.of(group.directory())), CorpusEvents::ofNetwork)
                    .failedLine(object, program);
        }
    }

    private static int read(BpfObject object, Program program) throws Exception {
        try (IteratorLink link = program.attach(Iter.all())) {
            try (var stream = link.open()) {
                stream.readAllBytes();
            }
            return reported(object);
        }
    }

    private static boolean reports(BpfObject object) {
        return object.spec().findGlobal("failed_line").isPresent();
    }

    private static int reported(BpfObject object) {
        assertThat(Bpf.u32(object, "runs")).as("runs").isPositive();
        return Bpf.u32(object, "failed_line");
    }

    /** An Ethernet frame with an empty IPv4 UDP packet, 64 bytes. */
    static byte[] packet() {
        ByteBuffer frame = ByteBuffer.allocate(64);
        frame.putShort(12, (short) 0x0800);
        frame.put(14, (byte) 0x45).putShort(16, (short) 50).put(22, (byte) 64).put(23, (byte) 17);
        frame.putInt(26, 0x7f000001).putInt(30, 0x7f000001);
        return frame.array();
    }

    /** {@code struct bpf_sk_lookup}: TCP over IPv4 to port 4242. */
    private static byte[] lookup() {
        ByteBuffer context = ByteBuffer.allocate(72).order(ByteOrder.nativeOrder());
        context.putInt(8, 2)
                .putInt(12, 6)
                .putInt(16, 0x0100007f)
                .putInt(40, 0x0100007f)
                .putInt(60, 4242);
        return context.array();
    }
}
