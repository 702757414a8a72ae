package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The commands of bpf(2) that load programs and BTF and work on programs.
 *
 * <p>Tested by {@code AttrGoldenTest}.
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public sealed interface ProgCommand<R> extends Command<R> {
    /** The contents of the verifier log: 1 is the usual level, 2 adds each path, 4 has only statistics. */
    record Log(int level, int size) {
        /** No log: the fastest load, tried first. */
        public static final Log NONE = new Log(0, 0);
    }

    /** A section of .BTF.ext in the kernel's form: records of one size, instruction offsets counted in instructions. */
    record InfoTable(byte[] records, int recordSize) {
        public static final InfoTable NONE = new InfoTable(new byte[0], 0);

        public int count() {
            return recordSize == 0 ? 0 : records.length / recordSize;
        }
    }

    /**
     * The program's types.
     *
     * @param btf the BTF that describes the program; null for none
     */
    record Types(@Nullable Fd btf, InfoTable functions, InfoTable lines) {
        public static final Types NONE = new Types(null, InfoTable.NONE, InfoTable.NONE);
    }

    /**
     * The attach target that the program is loaded for.
     *
     * @param type {@code expected_attach_type}
     * @param btfId of a function or struct; 0 for none
     * @param target program to extend, or BTF object of a module; null for none and for vmlinux
     */
    record Attachment(int type, int btfId, @Nullable Fd target) {
        public static final Attachment NONE = new Attachment(0, 0, null);
    }

    /**
     * BPF_PROG_LOAD. {@code fd_array_cnt}, a later field of the struct, is not used: with it the kernel also binds the
     * maps of the array to the program.
     *
     * @param type the kernel's number of the program type
     * @param name the name in the kernel, truncated to 15 bytes; empty for kernels before 4.15
     * @param instructions encoded, 8 bytes each, in the machine's byte order; they contain the numbers of file
     *     descriptors
     * @param ifindex network device that the program is offloaded or bound to; 0 for none
     * @param kernelVersion {@code kern_version}, which kernels before 5.0 compare for kprobes; 0 for none
     * @param fdArray file descriptors of maps and BTF objects that instructions refer to by index
     * @param instructionFds the file descriptors whose numbers are in the instructions
     */
    record Load(
            int type,
            String name,
            byte[] instructions,
            String license,
            int flags,
            int ifindex,
            int kernelVersion,
            Attachment attachment,
            Types types,
            List<Fd> fdArray,
            List<Fd> instructionFds,
            Log log)
            implements ProgCommand<LoadResult> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", """
                u32 prog_type, insn_cnt;
                u64 insns, license;
                u32 log_level, log_size;
                u64 log_buf;
                u32 kern_version, prog_flags;
                u8 prog_name[16];
                u32 prog_ifindex, expected_attach_type, prog_btf_fd, func_info_rec_size;
                u64 func_info;
                u32 func_info_cnt, line_info_rec_size;
                u64 line_info;
                u32 line_info_cnt, attach_btf_id, attach_prog_fd, core_relo_cnt;
                u64 fd_array, core_relos;
                u32 core_relo_rec_size, log_true_size, prog_token_fd;
                """);

        /**
         * The verifier stops with EAGAIN when a signal is pending (commit c3494801cd17, "bpf: check pending signals
         * while verifying programs"); signals in a JVM are handled quickly, so the next try is likely to succeed.
         */
        private static final int TRIES = 5;

        private static final int INSTRUCTION_SIZE = 8;

        public static Load of(int type, String name, byte[] code, String license) {
            return new Load(
                    type, name, code, license, 0, 0, 0, Attachment.NONE, Types.NONE, List.of(), List.of(), Log.NONE);
        }

        public Load withName(String newName) {
            return with(newName, flags, kernelVersion, attachment, types, instructionFds, log);
        }

        public Load withFlags(int newFlags) {
            return with(name, newFlags, kernelVersion, attachment, types, instructionFds, log);
        }

        public Load withKernelVersion(int code) {
            return with(name, flags, code, attachment, types, instructionFds, log);
        }

        public Load withExpectedAttachType(int number) {
            Attachment to = new Attachment(number, attachment.btfId, attachment.target);
            return with(name, flags, kernelVersion, to, types, instructionFds, log);
        }

        public Load withAttachTarget(int btfId, @Nullable Fd target) {
            Attachment to = new Attachment(attachment.type, btfId, target);
            return with(name, flags, kernelVersion, to, types, instructionFds, log);
        }

        public Load withBtf(@Nullable Fd btf, InfoTable functions, InfoTable lines) {
            return with(name, flags, kernelVersion, attachment, new Types(btf, functions, lines), instructionFds, log);
        }

        public Load withInstructionFds(List<Fd> fds) {
            return with(name, flags, kernelVersion, attachment, types, List.copyOf(fds), log);
        }

        public Load withLog(Log newLog) {
            return with(name, flags, kernelVersion, attachment, types, instructionFds, newLog);
        }

        private Load with(
                String newName,
                int newFlags,
                int newVersion,
                Attachment newAttachment,
                Types newTypes,
                List<Fd> newFds,
                Log newLog) {
            return new Load(
                    type,
                    newName,
                    instructions,
                    license,
                    newFlags,
                    ifindex,
                    newVersion,
                    newAttachment,
                    newTypes,
                    fdArray,
                    newFds,
                    newLog);
        }

        @Override
        public LoadResult run(Call call) {
            MemorySegment text = call.allocate(log.size());
            instructionFds.forEach(call::hold);
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "prog_type", type);
            ATTR.set(attr, "insn_cnt", instructions.length / INSTRUCTION_SIZE);
            ATTR.set(attr, "insns", Struct.bytes(call, instructions));
            ATTR.set(attr, "license", call.allocateFrom(license));
            if (log.level != 0) {
                ATTR.set(attr, "log_level", log.level);
                ATTR.set(attr, "log_size", log.size);
                ATTR.set(attr, "log_buf", text);
            }
            ATTR.set(attr, "kern_version", kernelVersion);
            ATTR.set(attr, "prog_flags", flags);
            Struct.name(attr, ATTR.offset("prog_name"), name);
            ATTR.set(attr, "prog_ifindex", ifindex);
            ATTR.set(attr, "expected_attach_type", attachment.type);
            if (types.btf != null) {
                ATTR.set(attr, "prog_btf_fd", call.hold(types.btf));
                ATTR.set(attr, "func_info_rec_size", types.functions.recordSize);
                ATTR.set(attr, "func_info", Struct.bytes(call, types.functions.records));
                ATTR.set(attr, "func_info_cnt", types.functions.count());
                ATTR.set(attr, "line_info_rec_size", types.lines.recordSize);
                ATTR.set(attr, "line_info", Struct.bytes(call, types.lines.records));
                ATTR.set(attr, "line_info_cnt", types.lines.count());
            }
            ATTR.set(attr, "attach_btf_id", attachment.btfId);
            ATTR.set(attr, "attach_prog_fd", call.hold(attachment.target)); // also attach_btf_obj_fd
            ATTR.set(
                    attr,
                    "fd_array",
                    Struct.ints(call, fdArray.stream().mapToInt(call::hold).toArray()));
            call.addToken(ATTR, attr, "prog_flags", "prog_token_fd");
            long result = call.bpfWithMemlock(BpfCommand.PROG_LOAD, attr);
            for (int i = 1; i < TRIES && isInterrupted(result); i++) {
                result = call.bpfWithMemlock(BpfCommand.PROG_LOAD, attr);
            }
            return LoadResult.of(call, result, "program \"" + name + "\"", text, ATTR.u32(attr, "log_true_size"));
        }

        /** By a signal: the verifier says EAGAIN, and a step that waits may say EINTR, as in any call. */
        private static boolean isInterrupted(long result) {
            return result == -Errno.EAGAIN.number() || result == -Errno.EINTR.number();
        }
    }

    /** BPF_BTF_LOAD: types in the encoding of {@code BtfBuilder.toBytes}. */
    record LoadBtf(String name, byte[] btf, Log log) implements ProgCommand<LoadResult> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr", """
                u64 btf, btf_log_buf;
                u32 btf_size, btf_log_size, btf_log_level, btf_log_true_size, btf_flags, btf_token_fd;
                """);

        @Override
        public LoadResult run(Call call) {
            MemorySegment text = call.allocate(log.size());
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "btf", Struct.bytes(call, btf));
            ATTR.set(attr, "btf_size", btf.length);
            if (log.level != 0) {
                ATTR.set(attr, "btf_log_buf", text);
                ATTR.set(attr, "btf_log_size", log.size);
                ATTR.set(attr, "btf_log_level", log.level);
            }
            call.addToken(ATTR, attr, "btf_flags", "btf_token_fd");
            long result = call.bpfWithMemlock(BpfCommand.BTF_LOAD, attr);
            return LoadResult.of(call, result, "BTF of " + name, text, ATTR.u32(attr, "btf_log_true_size"));
        }
    }

    /** BPF_PROG_BIND_MAP: the map lives at least as long as the program, which need not use it. */
    record BindMap(Fd program, Fd map) implements ProgCommand<Integer> {
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.prog_bind_map", "u32 prog_fd, map_fd, flags");

        @Override
        public Integer run(Call call) {
            return call.bpf(BpfCommand.PROG_BIND_MAP, call.attr(ATTR, call.hold(program), call.hold(map)));
        }
    }

    /**
     * BPF_PROG_ASSOC_STRUCT_OPS: associates the program with the struct in a struct_ops map.
     *
     * @param program file descriptor, held by the caller; a feature probe has none
     */
    record AssociateStructOps(int program, Fd map) implements ProgCommand<Integer> {
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.prog_assoc_struct_ops", "u32 map_fd, prog_fd, flags");

        @Override
        public Integer run(Call call) {
            return call.bpf(BpfCommand.PROG_ASSOC_STRUCT_OPS, call.attr(ATTR, call.hold(map), program));
        }
    }

    /**
     * BPF_PROG_TEST_RUN.
     *
     * @param data data that the program's context points to; empty for program types without data
     * @param dataOut size of the buffer for the data after the run, in bytes
     * @param context the context itself, for program types that accept one
     * @param contextOut size of the buffer for the context after the run, in bytes
     * @param repeat number of runs; 0 and 1 both mean one run
     * @param batchSize live XDP frames per batch; 0 for the kernel's default
     */
    record TestRun(
            Fd program,
            byte[] data,
            int dataOut,
            byte[] context,
            int contextOut,
            int repeat,
            int flags,
            int cpu,
            int batchSize)
            implements ProgCommand<TestRunResult> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.test", """
                u32 prog_fd, retval, data_size_in, data_size_out;
                u64 data_in, data_out;
                u32 repeat, duration, ctx_size_in, ctx_size_out;
                u64 ctx_in, ctx_out;
                u32 flags, cpu, batch_size;
                """);

        @Override
        public TestRunResult run(Call call) {
            MemorySegment dataAfter = Struct.buffer(call, dataOut);
            MemorySegment contextAfter = Struct.buffer(call, contextOut);
            MemorySegment contextBefore = Struct.bytes(call, context);
            MemorySegment attr = call.attr(ATTR);
            ATTR.set(attr, "prog_fd", call.hold(program));
            ATTR.set(attr, "data_size_in", data.length);
            ATTR.set(attr, "data_in", Struct.bytes(call, data));
            ATTR.set(attr, "data_size_out", dataOut);
            ATTR.set(attr, "data_out", dataAfter);
            ATTR.set(attr, "ctx_size_in", context.length);
            ATTR.set(attr, "ctx_in", contextBefore);
            ATTR.set(attr, "ctx_size_out", contextOut);
            ATTR.set(attr, "ctx_out", contextAfter);
            ATTR.set(attr, "repeat", repeat);
            ATTR.set(attr, "flags", flags);
            ATTR.set(attr, "cpu", cpu);
            ATTR.set(attr, "batch_size", batchSize);
            call.check(Call.retryOnSignal(() -> call.bpfResult(BpfCommand.PROG_TEST_RUN, attr)));
            // Without a buffer for the context, the result is the modified input: syscall programs return results this
            // way.
            return new TestRunResult(
                    ATTR.u32(attr, "retval"),
                    ATTR.u32(attr, "duration"),
                    Struct.filled(dataAfter, ATTR.u32(attr, "data_size_out")),
                    contextOut == 0
                            ? contextBefore.toArray(ValueLayout.JAVA_BYTE)
                            : Struct.filled(contextAfter, ATTR.u32(attr, "ctx_size_out")));
        }
    }

    /**
     * The result of a test run.
     *
     * @param returned the program's return value
     * @param nanos average duration of a run
     */
    record TestRunResult(int returned, int nanos, byte[] data, byte[] context) {}

    /**
     * BPF_PROG_STREAM_READ_BY_FD: reads and removes a program's output from one of its streams.
     *
     * @param stream 1 or 2
     * @param maxBytes size of the buffer
     */
    record ReadStream(Fd program, int stream, int maxBytes) implements ProgCommand<byte[]> {
        private static final StructLayout ATTR =
                StructLayout.of("bpf_attr.prog_stream_read", "u64 stream_buf; u32 stream_buf_len, stream_id, prog_fd");

        @Override
        public byte[] run(Call call) {
            MemorySegment bytes = call.allocate(maxBytes);
            MemorySegment attr = call.attr(ATTR, bytes.address(), maxBytes, stream, call.hold(program));
            return Struct.filled(bytes, call.bpf(BpfCommand.PROG_STREAM_READ_BY_FD, attr));
        }
    }

    /**
     * BPF_ENABLE_STATS: the kernel records run time and run count of every program while the file descriptor is open.
     */
    record EnableStats() implements ProgCommand<Fd> {
        private static final StructLayout ATTR = StructLayout.of("bpf_attr.enable_stats", "u32 type");

        @Override
        public Fd run(Call call) {
            // BPF_STATS_RUN_TIME is 0, the only kind.
            return call.fd(call.bpfResult(BpfCommand.ENABLE_STATS, call.attr(ATTR)), "BPF statistics");
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Load load -> BpfCommand.PROG_LOAD + " for program \"" + load.name + "\"";
            case LoadBtf btf -> BpfCommand.BTF_LOAD + " for \"" + btf.name + "\"";
            case BindMap(Fd program, Fd map) ->
                BpfCommand.PROG_BIND_MAP + " of " + map.description() + " to " + program.description();
            case AssociateStructOps with -> BpfCommand.PROG_ASSOC_STRUCT_OPS + " with " + with.map.description();
            case TestRun run -> BpfCommand.PROG_TEST_RUN + " of " + run.program.description();
            case ReadStream read -> BpfCommand.PROG_STREAM_READ_BY_FD + " of " + read.program.description();
            case EnableStats _ -> BpfCommand.ENABLE_STATS.toString();
        };
    }
}
