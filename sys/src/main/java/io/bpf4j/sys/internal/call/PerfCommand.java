package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** perf_event_open(2) and the ioctls of its file descriptors. */
public sealed interface PerfCommand<R> extends Command<R> {
    /** Types of event that have fixed numbers (include/uapi/linux/perf_event.h, {@code enum perf_type_id}). */
    int TYPE_SOFTWARE = 1;

    int TYPE_TRACEPOINT = 2;

    /** A software event that never fires by itself: programs write the records of a perf buffer to it. */
    long SOFTWARE_BPF_OUTPUT = 10;

    /** Sample type PERF_SAMPLE_RAW, which a perf buffer uses. */
    long SAMPLE_RAW = 1 << 10;

    /**
     * perf_event_open(2), close-on-exec, disabled until {@link Enable} if {@code disabled} is set.
     *
     * @param description a description for messages: {@code uprobe at /bin/x+0x1f40}
     * @param type a fixed number, or that of a dynamic source such as uprobe
     * @param text the string that the attributes point to: path of a uprobe, function of a kprobe; null for none
     * @param config2 offset of the probe; the address of a kprobe without a function
     * @param ring how records are written to the ring of the event
     * @param pid a thread; -1 for all, which then needs a cpu
     * @param cpu -1 for all, which then needs a pid
     * @param breakpoint the memory whose accesses are counted; null for other types
     * @param inherited whether threads that the thread starts later count, too
     */
    record Open(
            String description,
            int type,
            long config,
            @Nullable String text,
            long config2,
            long samplePeriod,
            boolean byFrequency,
            long sampleType,
            Ring ring,
            boolean disabled,
            int pid,
            int cpu,
            @Nullable Breakpoint breakpoint,
            boolean inherited)
            implements PerfCommand<Fd> {
        /**
         * Memory of a process.
         *
         * @param access 1 for reads, 2 for writes, 4 for execution (include/uapi/linux/hw_breakpoint.h)
         * @param length 1, 2, 4 or 8 bytes; for execution that of a long
         */
        public record Breakpoint(int access, long address, int length) {}

        /**
         * The ring of an event.
         *
         * @param wakeup after how many records it wakes its reader; bytes if {@code byBytes}
         * @param backward whether records are written from its end towards its start, so that a reader finds the newest
         *     ones if they overwrite older ones (Linux 4.7, commit 9ecda41acb97)
         */
        public record Ring(int wakeup, boolean byBytes, boolean backward) {
            /** For events whose ring is not mapped. */
            static final Ring NONE = new Ring(0, false, false);
        }

        /** The size is PERF_ATTR_SIZE_VER5, which every kernel since 4.1 accepts. */
        private static final StructLayout ATTR = StructLayout.of("perf_event_attr", """
                u32 type, size;
                u64 config, sample_period, sample_type, read_format, disabled;
                u32 wakeup_events, bp_type;
                u64 config1, config2, branch_sample_type, sample_regs_user;
                u32 sample_stack_user, clockid;
                u64 sample_regs_intr;
                u32 aux_watermark;
                """);

        /** Positions in the bit-field that begins with {@code disabled}, in the order in which C declares them. */
        private static final int DISABLED = 0;

        private static final int INHERIT = 1;
        private static final int FREQ = 10;
        private static final int WATERMARK = 14;
        private static final int WRITE_BACKWARD = 27;

        private static final int NO_GROUP = -1;

        /** PERF_FLAG_FD_CLOEXEC. */
        private static final int CLOEXEC = 8;

        /** A probe or tracepoint that fires at each hit: no sampling. */
        public static Open probe(
                String description, int type, long config, @Nullable String text, long config2, int pid, int cpu) {
            return new Open(
                    description, type, config, text, config2, 0, false, 0, Ring.NONE, false, pid, cpu, null, false);
        }

        public static Open tracepoint(String description, long id, int pid, int cpu) {
            return new Open(
                    description, TYPE_TRACEPOINT, id, null, 0, 0, false, 0, Ring.NONE, false, pid, cpu, null, false);
        }

        /**
         * An event that fires once per {@code period} occurrences or, if {@code perSecond}, {@code period} times per
         * second; initially disabled.
         */
        public static Open sampling(
                String description,
                int type,
                long config,
                long period,
                boolean perSecond,
                int pid,
                int cpu,
                @Nullable Breakpoint breakpoint,
                boolean inherited) {
            return new Open(
                    description,
                    type,
                    config,
                    null,
                    0,
                    period,
                    perSecond,
                    0,
                    Ring.NONE,
                    true,
                    pid,
                    cpu,
                    breakpoint,
                    inherited);
        }

        /** The target of a program's bpf_perf_event_output on a CPU, with raw records. */
        public static Open output(String description, int cpu, Ring ring) {
            long config = SOFTWARE_BPF_OUTPUT;
            return new Open(
                    description,
                    TYPE_SOFTWARE,
                    config,
                    null,
                    0,
                    1,
                    false,
                    SAMPLE_RAW,
                    ring,
                    true,
                    -1,
                    cpu,
                    null,
                    false);
        }

        @Override
        public Fd run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "type", type);
            ATTR.set(attr, "size", ATTR.size());
            ATTR.set(attr, "config", config);
            ATTR.set(attr, "sample_period", samplePeriod); // also sample_freq
            ATTR.set(attr, "sample_type", sampleType);
            ATTR.set(
                    attr,
                    "disabled",
                    (disabled ? bit(DISABLED) : 0)
                            | (inherited ? bit(INHERIT) : 0)
                            | (byFrequency ? bit(FREQ) : 0)
                            | (ring.byBytes ? bit(WATERMARK) : 0)
                            | (ring.backward ? bit(WRITE_BACKWARD) : 0));
            ATTR.set(attr, "wakeup_events", ring.wakeup); // also wakeup_watermark
            // also uprobe_path and kprobe_func
            ATTR.set(attr, "config1", text == null ? MemorySegment.NULL : call.allocateFrom(text));
            ATTR.set(attr, "config2", config2); // also probe_offset
            if (breakpoint != null) {
                ATTR.set(attr, "bp_type", breakpoint.access());
                ATTR.set(attr, "config1", breakpoint.address()); // as bp_addr
                ATTR.set(attr, "config2", breakpoint.length()); // as bp_len
            }
            long result = call.syscall(Syscall.PERF_EVENT_OPEN, attr.address(), pid, cpu, NO_GROUP, CLOEXEC, 0);
            return call.fd(result, description);
        }

        private static long bit(int position) {
            return bit(position, ByteOrder.nativeOrder());
        }

        /** C fills a bit-field from the low end on little-endian machines and from the high end on big-endian ones. */
        static long bit(int position, ByteOrder order) {
            return order == ByteOrder.LITTLE_ENDIAN ? 1L << position : 1L << (63 - position);
        }
    }

    /** PERF_EVENT_IOC_SET_BPF: the program runs at each event, for kernels without perf links. */
    record SetProgram(Fd event, Fd program) implements PerfCommand<Integer> {
        /** {@code _IOW('$', 8, __u32)}. */
        private static final long REQUEST = 0x40042408;

        @Override
        public Integer run(Call call) {
            return ioctl(call, event, SetProgram.REQUEST, call.hold(program));
        }
    }

    /** PERF_EVENT_IOC_ENABLE. */
    record Enable(Fd event) implements PerfCommand<Integer> {
        /** {@code _IO('$', 0)}. */
        private static final long REQUEST = 0x2400;

        @Override
        public Integer run(Call call) {
            return ioctl(call, event, Enable.REQUEST, 0);
        }
    }

    /** PERF_EVENT_IOC_PAUSE_OUTPUT: whether the ring of the event takes no records (Linux 4.7, commit 86e7972f690c). */
    record Pause(Fd event, boolean paused) implements PerfCommand<Integer> {
        /** {@code _IOW('$', 9, __u32)}. */
        private static final long REQUEST = 0x40042409;

        @Override
        public Integer run(Call call) {
            return ioctl(call, event, Pause.REQUEST, paused ? 1 : 0);
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Open open -> "perf_event_open for " + open.description;
            case SetProgram(Fd event, Fd program) ->
                "ioctl(PERF_EVENT_IOC_SET_BPF) of " + program.description() + " to " + event.description();
            case Pause pause -> "ioctl(PERF_EVENT_IOC_PAUSE_OUTPUT) of " + pause.event.description();
            case Enable(Fd event) -> "ioctl(PERF_EVENT_IOC_ENABLE) of " + event.description();
        };
    }

    /** Requests of include/uapi/linux/perf_event.h, in the encoding of include/uapi/asm-generic/ioctl.h. */
    private static int ioctl(Call call, Fd event, long request, long argument) {
        return call.check(call.syscall(Syscall.IOCTL, call.hold(event), request, argument));
    }
}
