package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The commands of bpf(2) that attach programs, and those that list what is attached.
 *
 * <p>Tested by {@code AttrGoldenTest}.
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public sealed interface LinkCommand<R> extends Command<R> {
    /**
     * The part of BPF_LINK_CREATE that differs by kind of link: a union at offset 16 of the attributes, with a layout
     * for each kind. Layouts that feature probes also use are defined here.
     */
    interface Details {
        /** No fields besides the program, the target and the attach type. */
        Details NONE = (_, _) -> {};

        /**
         * Writes the fields.
         *
         * @param union zeroes
         * @param memory for data that the fields point to; valid until the call returns
         */
        void encode(MemorySegment union, SegmentAllocator memory);

        /** The file descriptors in the fields; kept open during the call. */
        default List<Fd> fds() {
            return List.of();
        }

        /** Numbers for the first fields, in the order in which the layout declares them. */
        static Details of(StructLayout layout, long... values) {
            return new Numbers(layout, List.of(), values);
        }

        /** The same, with the file descriptor whose number is one of the values. */
        static Details of(Fd fd, StructLayout layout, long... values) {
            return new Numbers(layout, List.of(fd), values);
        }

        /** See {@link #of}. */
        record Numbers(StructLayout layout, List<Fd> fds, long... values) implements Details {
            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                layout.setAll(union, values);
            }
        }

        record PerfEvent(long cookie) implements Details {
            private static final StructLayout LAYOUT =
                    StructLayout.of("bpf_attr.link_create.perf_event", "u64 bpf_cookie");

            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                LAYOUT.set(union, "bpf_cookie", cookie);
            }
        }

        /**
         * Many uprobes in one file. Offsets are file offsets.
         *
         * @param path of the file; empty if the file descriptor is given
         * @param descriptor number of the open file, which the caller keeps open (Linux 7.2)
         * @param refCounterOffsets file offsets of the semaphores, 0 for a site without a semaphore; empty if no site
         *     has one
         * @param cookies one for each offset; empty for none
         * @param pid process to probe; 0 for all
         * @param returns whether to fire at the return of the function instead
         * @param flags {@code BPF_F_UPROBE_MULTI_*} except the flag for returns
         */
        record UprobeMulti(
                String path,
                OptionalInt descriptor,
                long[] offsets,
                long[] refCounterOffsets,
                long[] cookies,
                int pid,
                boolean returns,
                int flags)
                implements Details {
            /** {@code path_fd} came with Linux 7.2. */
            private static final StructLayout LAYOUT = StructLayout.of(
                    "bpf_attr.link_create.uprobe_multi",
                    "u64 path, offsets, ref_ctr_offsets, cookies; u32 cnt, flags, pid, path_fd");

            /** BPF_F_UPROBE_MULTI_RETURN. */
            private static final int RETURNS = 1;

            /** BPF_F_UPROBE_MULTI_PATH_FD. */
            private static final int PATH_FD = 2;

            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                if (descriptor.isPresent()) {
                    LAYOUT.set(union, "path_fd", descriptor.getAsInt());
                } else {
                    LAYOUT.set(union, "path", memory.allocateFrom(path));
                }
                LAYOUT.set(union, "offsets", Struct.longs(memory, offsets));
                LAYOUT.set(union, "ref_ctr_offsets", Struct.longs(memory, refCounterOffsets));
                LAYOUT.set(union, "cookies", Struct.longs(memory, cookies));
                LAYOUT.set(union, "cnt", offsets.length);
                LAYOUT.set(union, "flags", flags | (descriptor.isPresent() ? PATH_FD : 0) | (returns ? RETURNS : 0));
                LAYOUT.set(union, "pid", pid);
            }
        }

        /**
         * Many kprobes, by address or by symbol: one of the two lists is empty.
         *
         * @param cookies one for each function; empty for none
         */
        record KprobeMulti(long[] addresses, List<String> symbols, long[] cookies, boolean returns) implements Details {
            private static final StructLayout LAYOUT =
                    StructLayout.of("bpf_attr.link_create.kprobe_multi", "u32 flags, cnt; u64 syms, addrs, cookies");

            /** BPF_F_KPROBE_MULTI_RETURN. */
            private static final int RETURNS = 1;

            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                LAYOUT.set(union, "flags", returns ? RETURNS : 0);
                LAYOUT.set(union, "cnt", symbols.isEmpty() ? addresses.length : symbols.size());
                long[] pointers = symbols.stream()
                        .mapToLong(symbol -> memory.allocateFrom(symbol).address())
                        .toArray();
                LAYOUT.set(union, "syms", Struct.longs(memory, pointers));
                LAYOUT.set(union, "addrs", Struct.longs(memory, addresses));
                LAYOUT.set(union, "cookies", Struct.longs(memory, cookies));
            }
        }

        /**
         * Many functions of one BTF object, of the kernel or a module, that the program was loaded for (Linux 7.2).
         *
         * @param functions their BTF ids
         * @param cookies one for each function; empty for none
         */
        record TracingMulti(int[] functions, long[] cookies) implements Details {
            private static final StructLayout LAYOUT =
                    StructLayout.of("bpf_attr.link_create.tracing_multi", "u64 ids, cookies; u32 cnt");

            @Override
            public void encode(MemorySegment union, SegmentAllocator memory) {
                LAYOUT.set(union, "ids", Struct.ints(memory, functions));
                LAYOUT.set(union, "cookies", Struct.longs(memory, cookies));
                LAYOUT.set(union, "cnt", functions.length);
            }
        }
    }

    /**
     * BPF_LINK_CREATE.
     *
     * @param description a description for messages: {@code uprobes in /usr/lib/libc.so.6}
     * @param target perf event, cgroup, or map; null for none
     * @param targetIndex a number in place of {@code target}, such as an interface index; 0 for none
     * @param attachType the kernel's number
     */
    record Create(
            String description,
            Fd program,
            @Nullable Fd target,
            int targetIndex,
            int attachType,
            int flags,
            Details details)
            implements LinkCommand<Fd> {
        /** Four common fields, and fields specific to the kind of link from offset 16 on (7.3). */
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.link_create", "u32 prog_fd, target_fd, attach_type, flags");

        private static final int DETAILS = 16;
        private static final int DETAILS_SIZE = 48;

        public static Create of(String description, Fd program, int attachType, Details details) {
            return new Create(description, program, null, 0, attachType, 0, details);
        }

        public Create withTarget(Fd newTarget) {
            return new Create(description, program, newTarget, 0, attachType, flags, details);
        }

        public Create withTarget(int newIndex) {
            return new Create(description, program, null, newIndex, attachType, flags, details);
        }

        public Create withFlags(int newFlags) {
            return new Create(description, program, target, targetIndex, attachType, newFlags, details);
        }

        @Override
        public Fd run(Call call) {
            details.fds().forEach(call::hold);
            MemorySegment attr = call.attr(DETAILS + DETAILS_SIZE);
            ATTR.set(attr, "prog_fd", call.hold(program));
            ATTR.set(attr, "target_fd", target == null ? targetIndex : call.hold(target));
            ATTR.set(attr, "attach_type", attachType);
            ATTR.set(attr, "flags", flags);
            details.encode(attr.asSlice(DETAILS), call);
            return call.fd(call.bpfOffCarrier(BpfCommand.LINK_CREATE, attr), "link of " + description);
        }
    }

    /** BPF_LINK_UPDATE: replaces the link's program. */
    record Update(Fd link, Fd program, @Nullable Fd expected, int flags) implements LinkCommand<Integer> {
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.link_update", "u32 link_fd, new_prog_fd, flags, old_prog_fd");

        /** BPF_F_REPLACE: only if the old program is the expected one. */
        private static final int REPLACE = 4;

        @Override
        public Integer run(Call call) {
            int all = flags | (expected == null ? 0 : REPLACE);
            return call.bpfOffCarrier(
                    BpfCommand.LINK_UPDATE,
                    call.attr(ATTR, call.hold(link), call.hold(program), all, call.hold(expected)));
        }
    }

    /** BPF_LINK_DETACH: the link stays open, without effect. */
    record Detach(Fd link) implements LinkCommand<Integer> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.link_detach", "u32 link_fd");

        @Override
        public Integer run(Call call) {
            return call.bpfOffCarrier(BpfCommand.LINK_DETACH, call.attr(ATTR, call.hold(link)));
        }
    }

    /**
     * BPF_RAW_TRACEPOINT_OPEN.
     *
     * @param tracepoint name without category; empty for tp_btf, fentry and lsm, because the program already has its
     *     target
     * @param cookie 0 for none; others need 6.10
     */
    record OpenRawTracepoint(String tracepoint, Fd program, long cookie) implements LinkCommand<Fd> {
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.raw_tracepoint", "u64 name; u32 prog_fd; u64 cookie");

        @Override
        public Fd run(Call call) {
            long name = tracepoint.isEmpty() ? 0 : call.allocateFrom(tracepoint).address();
            MemorySegment attr = call.attr(ATTR, name, call.hold(program), cookie);
            return call.fd(
                    call.bpfOffCarrier(BpfCommand.RAW_TRACEPOINT_OPEN, attr),
                    "link of " + program.description() + " to tracepoint " + tracepoint);
        }
    }

    /**
     * BPF_PROG_ATTACH: attaches to a cgroup, a sockmap or a lirc device without a link.
     *
     * @param program null for none, which the kernel refuses: a feature probe then learns whether it knows the attach
     *     type
     * @param replaced the program that it takes the place of, with BPF_F_REPLACE (Linux 5.6); else null
     */
    record Attach(
            @Nullable Fd program,
            Fd target,
            int attachType,
            int flags,
            @Nullable Fd replaced) implements LinkCommand<Integer> {
        /** With no program replaced. */
        public Attach(@Nullable Fd program, Fd target, int attachType, int flags) {
            this(program, target, attachType, flags, null);
        }

        private static final StructLayout ATTR = StructLayout.of("bpf_attr", """
                u32 target_fd, attach_bpf_fd, attach_type, attach_flags, replace_bpf_fd, relative_fd;
                u64 expected_revision;
                """);

        @Override
        public Integer run(Call call) {
            return attachOrDetach(call, BpfCommand.PROG_ATTACH, this, 0);
        }

        private static int attachOrDetach(Call call, BpfCommand command, Attach attach, long revision) {
            int program = attach.program == null ? -1 : call.hold(attach.program);
            MemorySegment attr = call.attr(
                    ATTR,
                    call.hold(attach.target),
                    program,
                    attach.attachType,
                    attach.flags,
                    call.hold(attach.replaced));
            ATTR.set(attr, "expected_revision", revision);
            return call.bpfOffCarrier(command, attr);
        }
    }

    /**
     * BPF_PROG_DETACH, the reverse of {@link Attach}.
     *
     * @param revision of the programs of a control group (Linux 6.17), without which the kernel refuses (ESTALE); 0 for
     *     any
     */
    record DetachProgram(Fd program, Fd target, int attachType, long revision) implements LinkCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return Attach.attachOrDetach(
                    call, BpfCommand.PROG_DETACH, new Attach(program, target, attachType, 0), revision);
        }
    }

    /**
     * BPF_PROG_QUERY: the programs that are attached to a target. If there are more than {@code room}, the result has
     * the first of them, and the number of all.
     *
     * @param description of the target, for messages
     * @param target cgroup, network namespace, map or receiver; null for a network device
     * @param targetIndex index of the network device, else 0
     * @param effective for cgroups: the programs that run for it, including those of its ancestors
     * @param withFlags whether to ask for the flags of each program (Linux 6.0)
     * @param withLinks whether to ask for the link of each program (Linux 6.6)
     * @param room how many programs the result can have
     */
    record Query(
            String description,
            @Nullable Fd target,
            int targetIndex,
            int attachType,
            boolean effective,
            boolean withFlags,
            boolean withLinks,
            int room)
            implements LinkCommand<Query.Attached> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.query", """
                u32 target_fd, attach_type, query_flags, attach_flags;
                u64 prog_ids;
                u32 prog_cnt;
                u64 prog_attach_flags, link_ids, link_attach_flags, revision;
                """);

        /** BPF_F_QUERY_EFFECTIVE. */
        private static final int EFFECTIVE = 1;

        /**
         * The attached programs. The arrays have an element for each program, or none if the query did not ask for it.
         *
         * @param count the number of all programs, unsigned
         */
        public record Attached(int count, int flags, long revision, int[] programs, int[] programFlags, int[] links) {}

        @Override
        public Attached run(Call call) {
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "target_fd", target == null ? targetIndex : call.hold(target));
            ATTR.set(attr, "attach_type", attachType);
            ATTR.set(attr, "query_flags", effective ? EFFECTIVE : 0);
            MemorySegment programs = array(call, attr, "prog_ids", true);
            MemorySegment programFlags = array(call, attr, "prog_attach_flags", withFlags);
            MemorySegment links = array(call, attr, "link_ids", withLinks);
            ATTR.set(attr, "prog_cnt", room);
            long result = call.bpfResult(BpfCommand.PROG_QUERY, attr);
            if (result != -Errno.ENOSPC.number()) {
                call.check(result);
            }
            int count = ATTR.u32(attr, "prog_cnt");
            return new Attached(
                    count,
                    ATTR.u32(attr, "attach_flags"),
                    ATTR.u64(attr, "revision"),
                    first(programs, count),
                    first(programFlags, count),
                    first(links, count));
        }

        private MemorySegment array(Call call, MemorySegment attr, String field, boolean wanted) {
            MemorySegment array = wanted ? call.allocate(Struct.U32, room) : MemorySegment.NULL;
            ATTR.set(attr, field, array);
            return array;
        }

        private static int[] first(MemorySegment array, int count) {
            long present = Math.min(Integer.toUnsignedLong(count), array.byteSize() / Integer.BYTES);
            return array.asSlice(0, present * Integer.BYTES).toArray(Struct.U32);
        }
    }

    /**
     * BPF_TASK_FD_QUERY: the place to which the program of a perf event, or of a raw tracepoint, is attached.
     *
     * @param pid of the process with the descriptor, in the pid namespace of this process
     */
    record TaskFdQuery(int pid, int descriptor) implements LinkCommand<TaskFdQuery.Probe> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.task_fd_query", """
                u32 pid, fd, flags, buf_len;
                u64 buf;
                u32 prog_id, fd_type;
                u64 probe_offset, probe_addr;
                """);

        /** PATH_MAX. */
        private static final int TEXT_SIZE = 4096;

        /**
         * The answer.
         *
         * @param type the kernel's number ({@code enum bpf_task_fd_type})
         * @param text name of the tracepoint or function, or path of the file; empty for none
         * @param offset in the function or the file
         * @param address of a kprobe that was given by its address, else 0
         */
        public record Probe(int programId, int type, String text, long offset, long address) {}

        @Override
        public Probe run(Call call) {
            MemorySegment text = call.allocate(TEXT_SIZE);
            MemorySegment attr = call.attr(ATTR, pid, descriptor, 0, TEXT_SIZE, text.address());
            call.bpf(BpfCommand.TASK_FD_QUERY, attr);
            return new Probe(
                    ATTR.u32(attr, "prog_id"),
                    ATTR.u32(attr, "fd_type"),
                    CString.of(text),
                    ATTR.u64(attr, "probe_offset"),
                    ATTR.u64(attr, "probe_addr"));
        }
    }

    /** BPF_ITER_CREATE: a read of the file descriptor returns the iterator's output. */
    record CreateIter(Fd link) implements LinkCommand<Fd> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.iter_create", "u32 link_fd, flags");

        @Override
        public Fd run(Call call) {
            return call.fd(
                    call.bpfResult(BpfCommand.ITER_CREATE, call.attr(ATTR, call.hold(link))),
                    "iterator of " + link.description());
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Create create -> BpfCommand.LINK_CREATE + " for " + create.description;
            case Update update ->
                BpfCommand.LINK_UPDATE + " of " + update.link.description() + " to " + update.program.description();
            case Detach(Fd link) -> BpfCommand.LINK_DETACH + " of " + link.description();
            case OpenRawTracepoint open ->
                BpfCommand.RAW_TRACEPOINT_OPEN + " of " + open.program.description()
                        + (open.tracepoint.isEmpty() ? "" : " to " + open.tracepoint);
            case Attach attach ->
                BpfCommand.PROG_ATTACH + " of " + (attach.program == null ? "no program" : attach.program.description())
                        + " to " + attach.target.description();
            case DetachProgram detach ->
                BpfCommand.PROG_DETACH + " of " + detach.program.description() + " from " + detach.target.description();
            case Query query -> BpfCommand.PROG_QUERY + " of " + query.description;
            case TaskFdQuery(int pid, int descriptor) ->
                BpfCommand.TASK_FD_QUERY + " of descriptor " + descriptor + " of process " + pid;
            case CreateIter(Fd link) -> BpfCommand.ITER_CREATE + " of " + link.description();
        };
    }
}
