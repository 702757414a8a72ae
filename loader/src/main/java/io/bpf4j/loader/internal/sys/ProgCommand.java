package io.bpf4j.loader.internal.sys;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The commands of bpf(2) that load programs and BTF and work on programs. */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public sealed interface ProgCommand<R> extends Command<R> {
    /** What is written into the verifier's log: everything (level 1) is usual, 2 adds each path, 4 only figures. */
    record Log(int level, int size) {
        /** No log: the fastest load, and the first to try. */
        public static final Log NONE = new Log(0, 0);
    }

    /** A section of .BTF.ext as the kernel takes it: records of one size, instruction offsets counted in instructions. */
    record InfoTable(byte[] records, int recordSize) {
        public static final InfoTable NONE = new InfoTable(new byte[0], 0);

        public int count() {
            return recordSize == 0 ? 0 : records.length / recordSize;
        }
    }

    /**
     * BPF_PROG_LOAD. Start from {@link #of} and add what is needed.
     *
     * @param type the kernel's number of the program type
     * @param name what the kernel shows, cut to 15 bytes; empty for kernels before 4.15
     * @param instructions encoded, 8 bytes each, in the machine's byte order, with the numbers of descriptors in them
     * @param mentioned the descriptors whose numbers stand in the instructions or in {@code fdArray}
     * @param kernelVersion {@code kern_version}, which kernels before 5.0 compare for kprobes; 0 for none
     * @param ifindex network device that the program is moved to (offload), or for which it is made; 0 for none
     * @param attachTarget program to extend, or BTF object of a module; null for none and for vmlinux
     * @param fdArray numbers of maps and BTF objects that instructions mention by index
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

        /** For the network device of that index, which the program is moved to. */
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

        /** The instructions mention these by number: hold them while the kernel reads the instructions. */
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

        /** A command that is being put together. */
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
     * BPF_PROG_ASSOC_STRUCT_OPS: the program belongs to the struct of functions that a map holds.
     *
     * @param program number, held by the caller: a probe has none
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
     * @param data what the program's context points at; empty for kinds that take none
     * @param dataOut room for what the program made of it, in bytes
     * @param context the context itself, for kinds that take one
     * @param contextOut room for what the program made of it, in bytes
     * @param repeat how often to run, 0 and 1 both once
     * @param batchSize live XDP frames handed on at once; 0 for the kernel's own choice
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
     * What a test run gave.
     *
     * @param returned what the program returned
     * @param nanos average duration of a run
     */
    record TestRunResult(int returned, int nanos, byte[] data, byte[] context) {}

    /**
     * BPF_PROG_STREAM_READ_BY_FD: takes what a program has written out of one of its streams.
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

    /** BPF_ENABLE_STATS: run time and run count of every program are kept while the descriptor is open. */
    record EnableStats() implements ProgCommand<Fd> {
        @Override
        public String call() {
            return "bpf(BPF_ENABLE_STATS)";
        }
    }
}
