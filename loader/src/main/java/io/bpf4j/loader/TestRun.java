package io.bpf4j.loader;

import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.ProgCommand;

/**
 * The input of a test run, for {@link Program#test}. <i>Immutable.</i>
 *
 * <pre>{@code
 * TestRun.Result result = program.test(TestRun.onData(packet).withRepeat(1000));
 * }</pre>
 *
 * Program types differ in the input they take; the kernel refuses other input with EINVAL:
 * <ul>
 *   <li>socket filter, tc, XDP and similar types: data is a packet of at least 14 bytes (an Ethernet header), context
 *       is a {@code struct __sk_buff} or {@code xdp_md} (Linux 5.2)
 *   <li>raw tracepoint (Linux 5.10): context is up to 12 arguments of 8 bytes; no data, no repetition
 *   <li>syscall (Linux 5.14): context is any struct, returned as the program left it; nothing else
 *   <li>fentry, fexit, fmod_ret (Linux 5.5), LSM: nothing; the kernel calls its own test functions, to which the
 *       program must be attached
 * </ul>
 * kprobes, tracepoints, perf events and cgroup programs other than cgroup_skb can't be run this way.
 */
public final class TestRun {
    /**
     * The result of a test run. The arrays belong to the caller.
     *
     * @param returned return value of the last run
     * @param nanos average duration of a run in nanoseconds; 0 for program types that the kernel does not time
     * @param data the data after the last run, truncated to the given room
     * @param context the context after the last run, truncated to the given room
     */
    @SuppressWarnings("ArrayRecordComponent") // results are not compared
    public record Result(int returned, int nanos, byte[] data, byte[] context) {}

    /** Bytes by which a program may extend a packet: XDP_PACKET_HEADROOM before the data, and as much after it. */
    private static final int HEADROOM = 512;

    private static final int ON_CPU = 1; // BPF_F_TEST_RUN_ON_CPU
    private static final int LIVE_FRAMES = 2; // BPF_F_TEST_XDP_LIVE_FRAMES

    private static final TestRun EMPTY = new TestRun(new byte[0], 0, new byte[0], 0, 0, 0, 0, 0);

    private final byte[] data;
    private final int dataRoom;
    private final byte[] context;
    private final int contextRoom;
    private final int repeat;
    private final int flags;
    private final int cpu;
    private final int batchSize;

    private TestRun(
            byte[] data, int dataRoom, byte[] context, int contextRoom, int repeat, int flags, int cpu, int batchSize) {
        this.data = data;
        this.dataRoom = dataRoom;
        this.context = context;
        this.contextRoom = contextRoom;
        this.repeat = repeat;
        this.flags = flags;
        this.cpu = cpu;
        this.batchSize = batchSize;
    }

    /** The command that runs a program. */
    ProgCommand.TestRun of(Fd program) {
        return new ProgCommand.TestRun(program, data, dataRoom, context, contextRoom, repeat, flags, cpu, batchSize);
    }

    /** Runs once, without input. */
    public static TestRun once() {
        return EMPTY;
    }

    /** Runs on a packet. The program may extend it by up to 512 bytes. */
    public static TestRun onData(byte[] packet) {
        return new TestRun(packet.clone(), packet.length + HEADROOM, new byte[0], 0, 0, 0, 0, 0);
    }

    /** Runs on a context: any struct for syscall programs, the arguments for raw tracepoints. */
    public static TestRun onContext(byte[] struct) {
        return EMPTY.withContext(struct);
    }

    /** With this context; the class description lists the contexts by program type. */
    public TestRun withContext(byte[] struct) {
        return new TestRun(data, dataRoom, struct.clone(), contextRoom, repeat, flags, cpu, batchSize);
    }

    /** With room for this many bytes of data after the run; 0 discards the data. */
    public TestRun withDataRoom(int bytes) {
        return new TestRun(data, bytes, context, contextRoom, repeat, flags, cpu, batchSize);
    }

    /**
     * With room for this many bytes of context after the run, for program types that return it separately. The whole
     * context must fit, for instance 192 bytes of {@code struct __sk_buff}.
     */
    public TestRun withContextRoom(int bytes) {
        return new TestRun(data, dataRoom, context, bytes, repeat, flags, cpu, batchSize);
    }

    /**
     * Runs this many times in a row, each run on the data that the previous run left. {@link Result#nanos} is the
     * average.
     */
    public TestRun withRepeat(int times) {
        return new TestRun(data, dataRoom, context, contextRoom, times, flags, cpu, batchSize);
    }

    /** On this CPU; raw tracepoints only (Linux 5.10). */
    public TestRun withCpu(int number) {
        return new TestRun(data, dataRoom, context, contextRoom, repeat, flags | ON_CPU, number, batchSize);
    }

    /**
     * Sends the packets as the XDP program decides (Linux 5.18). The only result is the duration. The context names the
     * receiving interface.
     *
     * @param batch packets passed on at once, up to 256; 0 for the kernel's default
     */
    public TestRun withLiveFrames(int batch) {
        return new TestRun(data, 0, context, 0, repeat, flags | LIVE_FRAMES, cpu, batch);
    }

    /** With these {@code BPF_F_TEST_*} flags too. */
    public TestRun withFlags(int more) {
        return new TestRun(data, dataRoom, context, contextRoom, repeat, flags | more, cpu, batchSize);
    }

    @Override
    public String toString() {
        return "test run on " + data.length + " bytes of data and " + context.length + " of context"
                + (repeat > 1 ? ", " + repeat + " times" : "")
                + ((flags & ON_CPU) == 0 ? "" : ", on CPU " + cpu);
    }
}
