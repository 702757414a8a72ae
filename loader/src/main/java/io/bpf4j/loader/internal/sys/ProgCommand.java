package io.bpf4j.loader.internal.sys;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that load programs and BTF and work on programs. */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
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
     * BPF_PROG_LOAD. Start from {@link #of} and set the other fields.
     *
     * @param type the kernel's number of the program type
     * @param name the name in the kernel, cut to 15 bytes; empty for kernels before 4.15
     * @param instructions encoded, 8 bytes each, in the machine's byte order, with the numbers of file descriptors in
     *     them
     * @param mentioned the file descriptors whose numbers are in the instructions or in {@code fdArray}
     * @param kernelVersion {@code kern_version}, which kernels before 5.0 compare for kprobes; 0 for none
     * @param ifindex network device that the program is offloaded or bound to; 0 for none
     * @param attachTarget program to extend, or BTF object of a module; null for none and for vmlinux
     * @param fdArray file descriptors of maps and BTF objects that instructions refer to by index
     */
    record Load(
            int type,
            String name,
            byte[] instructions,
            String license,
            int flags,
            int expectedAttachType,
            int kernelVersion,
            int ifindex,
            @Nullable Fd btf,
            InfoTable funcInfo,
            InfoTable lineInfo,
            int attachBtfId,
            @Nullable Fd attachTarget,
            List<Fd> fdArray,
            List<Fd> mentioned,
            Log log)
            implements ProgCommand<LoadResult> {

        public static Load of(int type, String name, byte[] instructions, String license) {
            return new Load(
                    type,
                    name,
                    instructions,
                    license,
                    0,
                    0,
                    0,
                    0,
                    null,
                    InfoTable.NONE,
                    InfoTable.NONE,
                    0,
                    null,
                    List.of(),
                    List.of(),
                    Log.NONE);
        }

        public Load withName(String newName) {
            return with(draft -> draft.name = newName);
        }

        public Load withFlags(int newFlags) {
            return with(draft -> draft.flags = newFlags);
        }

        public Load withExpectedAttachType(int number) {
            return with(draft -> draft.expectedAttachType = number);
        }

        public Load withKernelVersion(int code) {
            return with(draft -> draft.kernelVersion = code);
        }

        /** Offloads the program to the network device with that index. */
        public Load withIfindex(int index) {
            return with(draft -> draft.ifindex = index);
        }

        public Load withBtf(@Nullable Fd newBtf, InfoTable newFuncInfo, InfoTable newLineInfo) {
            return with(draft -> {
                draft.btf = newBtf;
                draft.funcInfo = newFuncInfo;
                draft.lineInfo = newLineInfo;
            });
        }

        public Load withAttachTarget(int btfId, @Nullable Fd target) {
            return with(draft -> {
                draft.attachBtfId = btfId;
                draft.attachTarget = target;
            });
        }

        public Load withFdArray(List<Fd> fds) {
            return with(draft -> draft.fdArray = List.copyOf(fds));
        }

        /**
         * The instructions contain these numbers: hold the file descriptors while the kernel reads the instructions.
         */
        public Load withMentioned(List<Fd> fds) {
            return with(draft -> draft.mentioned = List.copyOf(fds));
        }

        public Load withLog(Log newLog) {
            return with(draft -> draft.log = newLog);
        }

        private Load with(Consumer<Draft> change) {
            Draft draft = new Draft(this);
            change.accept(draft);
            return draft.done();
        }

        @Override
        public String call() {
            return "bpf(BPF_PROG_LOAD) for program \"" + name + "\"";
        }

        @Override
        public List<Fd> fds() {
            List<Fd> all = new ArrayList<>(fdArray);
            all.addAll(mentioned);
            if (btf != null) {
                all.add(btf);
            }
            if (attachTarget != null) {
                all.add(attachTarget);
            }
            return all;
        }

        /** A builder of the command. */
        private static final class Draft {
            private final Load original;
            private String name;
            private int flags;
            private int expectedAttachType;
            private int kernelVersion;
            private int ifindex;
            private @Nullable Fd btf;
            private InfoTable funcInfo;
            private InfoTable lineInfo;
            private int attachBtfId;
            private @Nullable Fd attachTarget;
            private List<Fd> fdArray;
            private List<Fd> mentioned;
            private Log log;

            Draft(Load original) {
                this.original = original;
                name = original.name;
                flags = original.flags;
                expectedAttachType = original.expectedAttachType;
                kernelVersion = original.kernelVersion;
                ifindex = original.ifindex;
                btf = original.btf;
                funcInfo = original.funcInfo;
                lineInfo = original.lineInfo;
                attachBtfId = original.attachBtfId;
                attachTarget = original.attachTarget;
                fdArray = original.fdArray;
                mentioned = original.mentioned;
                log = original.log;
            }

            Load done() {
                return new Load(
                        original.type,
                        name,
                        original.instructions,
                        original.license,
                        flags,
                        expectedAttachType,
                        kernelVersion,
                        ifindex,
                        btf,
                        funcInfo,
                        lineInfo,
                        attachBtfId,
                        attachTarget,
                        fdArray,
                        mentioned,
                        log);
            }
        }
    }

    /** BPF_BTF_LOAD: types in the encoding that {@code BtfWriter} makes. */
    record LoadBtf(String name, byte[] btf, Log log) implements ProgCommand<LoadResult> {
        @Override
        public String call() {
            return "bpf(BPF_BTF_LOAD) for \"" + name + "\"";
        }
    }

    /** BPF_PROG_BIND_MAP: the map lives at least as long as the program, which need not use it. */
    record BindMap(Fd program, Fd map) implements ProgCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_PROG_BIND_MAP) of " + map.what() + " to " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program, map);
        }
    }

    /**
     * BPF_PROG_ASSOC_STRUCT_OPS: associates the program with the struct in a struct_ops map.
     *
     * @param program file descriptor, held by the caller; a feature probe has none
     */
    record AssociateStructOps(int program, Fd map) implements ProgCommand<Integer> {
        @Override
        public String call() {
            return "bpf(BPF_PROG_ASSOC_STRUCT_OPS) with " + map.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(map);
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
        /** Without live frames. */
        public TestRun(
                Fd program, byte[] data, int dataOut, byte[] context, int contextOut, int repeat, int flags, int cpu) {
            this(program, data, dataOut, context, contextOut, repeat, flags, cpu, 0);
        }

        @Override
        public String call() {
            return "bpf(BPF_PROG_TEST_RUN) of " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program);
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
     * @param room bytes at most
     */
    record ReadStream(Fd program, int stream, int room) implements ProgCommand<byte[]> {
        @Override
        public String call() {
            return "bpf(BPF_PROG_STREAM_READ_BY_FD) of " + program.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(program);
        }
    }

    /**
     * BPF_ENABLE_STATS: the kernel records run time and run count of every program while the file descriptor is open.
     */
    record EnableStats() implements ProgCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_ENABLE_STATS)";
        }
    }
}
