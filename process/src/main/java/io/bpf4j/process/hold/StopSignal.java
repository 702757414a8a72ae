package io.bpf4j.process.hold;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.attach.Attacher;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.Ptrace;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A uprobe in one process whose program sends SIGURG to the thread that hits it. <i>Thread-safe.</i>
 *
 * <p>The kernel stops a tracee for each signal before delivery, also for an ignored signal (sig_ignored in
 * kernel/signal.c); so the thread stops at the probe, and the tracer drops the signal. If the tracer has died, the
 * signal is delivered without effect: SIGURG is ignored by default, and a handler must tolerate additional signals. A
 * breakpoint that ptrace writes into the process would kill the process in this case.
 *
 * <p>A thread that blocks SIGURG does not stop. If the kernel's BTF has the offset of the signal mask, the program
 * sends no signal to such a thread, which could read it from a signalfd, and counts the hit.
 *
 * <p>Tested by {@code CliFirstEventsTest}.
 */
final class StopSignal implements AutoCloseable {
    /** Numbers of include/uapi/linux/bpf.h. */
    private static final int BPF_GET_CURRENT_TASK = 35;

    private static final int BPF_PROBE_READ_KERNEL = 113;

    /** Linux 5.6, commit 8482941f0906. */
    private static final int BPF_SEND_SIGNAL_THREAD = 117;

    /** Where the map's one value has the number of hits for which a signal was sent. A number has 8 bytes. */
    private static final int SENT = 0;

    /** The hits by threads that block the signal. */
    private static final int BLOCKED = 8;

    /** The hits for which the kernel could not send the signal. */
    private static final int UNSENT = 16;

    private static final int COUNTERS_SIZE = 24;

    private final Kernel kernel;
    private final Fd counters;
    private final FileIdentity file;
    private final long offset;
    private final Link link;

    /** Whether the program sees if a thread blocks the signal, so that it sends none in vain. */
    private final boolean seesMask;

    private long claimed;

    private StopSignal(Kernel kernel, Fd counters, FileIdentity file, long offset, Link link, boolean seesMask) {
        this.kernel = kernel;
        this.counters = counters;
        this.file = file;
        this.offset = offset;
        this.link = link;
        this.seesMask = seesMask;
    }

    /**
     * Attaches to an instruction in one process.
     *
     * @param expected the identity that the file must have
     * @throws AttachException if the kernel rejects the probe, or another file is at the path
     * @throws SyscallException if the kernel can't send signals from programs, or the file can't be opened
     */
    static StopSignal attach(Host host, Features features, int pid, Path path, FileIdentity expected, long offset) {
        Kernel kernel = Kernel.of(host);
        boolean multi = features.has(Feature.UPROBE_MULTI_LINK) && features.has(Feature.UPROBE_MULTI_PROCESS);
        Optional<AttachType> type = multi ? Optional.of(AttachType.TRACE_UPROBE_MULTI) : Optional.empty();
        Fd counters = kernel.execute(MapCommand.Create.of(MapType.ARRAY.number(), "stop_signals", 4, COUNTERS_SIZE, 1));
        try (OpenFile file = OpenFile.open(host, path, path.toString())) {
            if (!file.identity().equals(expected)) {
                throw new AttachException("attach to " + path + ": the file has been replaced", null);
            }
            AttachTarget target = multi
                    ? UprobeMulti.at(file, offset).inProcess(pid)
                    : Uprobe.at(file, offset).inProcess(pid);
            OptionalInt mask = offsetOfMask(host);
            try (Fd program = load(host, type, counters, mask)) {
                Link link = new Attacher(host, features).attach(program, "stop_signal", type, target);
                return UndoStack.closing(
                        new StopSignal(kernel, counters, expected, offset, link, mask.isPresent()),
                        link::close,
                        program::close,
                        file::close);
            }
        } catch (RuntimeException | Error e) {
            UndoStack.of(counters::close).closeAfter(e);
            throw e;
        }
    }

    /** Whether the probe is at this place. */
    boolean isAt(FileIdentity otherFile, long otherOffset) {
        return file.equals(otherFile) && offset == otherOffset;
    }

    /** Whether a SIGURG from the kernel that stopped a thread was sent by this probe; each signal is claimed once. */
    synchronized boolean claim() {
        if (read(SENT) <= claimed) {
            return false;
        }
        claimed++;
        return true;
    }

    /**
     * Hits by threads that did not stop.
     *
     * @param blocked by threads that block the signal
     * @param others for unknown reasons
     */
    record Missed(long blocked, long others) {
        static final Missed NONE = new Missed(0, 0);

        Missed plus(Missed more) {
            return new Missed(blocked + more.blocked, others + more.others);
        }
    }

    /**
     * Hits by threads that did not stop, not counting threads that stopped later.
     *
     * @param ended whether the process has ended. The kernel handles signals before a thread executes the instruction at
     *     the probe; so a thread that does not block the signal and did not stop for it was killed there, and executed
     *     nothing more
     */
    synchronized Missed missed(boolean ended) {
        long pending = ended && seesMask ? 0 : Math.max(0, read(SENT) - claimed);
        return new Missed(read(BLOCKED), read(UNSENT) + pending);
    }

    /**
     * Detaches without waiting: the kernel takes tens of milliseconds, during which tracees would be delayed. The probe
     * is not hit any more: the process has ended or called exec, or tracing has ended.
     */
    @Override
    public void close() {
        try (counters) {
            Closing _ = link.closeAsync();
        }
    }

    private long read(int counter) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(4, 4);
            MemorySegment value = arena.allocate(COUNTERS_SIZE, 8);
            int error = kernel.element(MapCommand.Op.LOOKUP, counters, key, value, 0);
            return error == 0 ? value.get(ValueLayout.JAVA_LONG, counter) : 0;
        }
    }

    private static Fd load(Host host, Optional<AttachType> type, Fd counters, OptionalInt mask) {
        byte[] code = Instructions.encode(program(counters.number(), mask), ByteOrder.nativeOrder());
        ProgCommand.Load load = ProgCommand.Load.of(ProgramType.KPROBE.number(), "stop_signal", code, "GPL")
                .withExpectedAttachType(type.map(AttachType::number).orElse(0));
        return switch (Kernel.of(host).execute(load)) {
            case LoadResult.Loaded loaded -> loaded.fd();
            case LoadResult.Refused refused ->
                throw FailureHints.explained(load, refused.errno(), ProcessRights.of(host));
        };
    }

    private static List<Instruction> program(int counters, OptionalInt mask) {
        Assembler program = Assembler.create();
        if (mask.isPresent()) {
            program.call(BPF_GET_CURRENT_TASK)
                    .movReg(R3, R0)
                    .alu(Opcodes.ADD, R3, mask.getAsInt())
                    .mov(R2, 8)
                    .movReg(R1, R10)
                    .alu(Opcodes.ADD, R1, -8)
                    .st(8, R10, -8, 0)
                    .call(BPF_PROBE_READ_KERNEL)
                    .ldx(8, R1, R10, -8)
                    .alu(Opcodes.AND, R1, 1 << (Ptrace.SIGURG - 1))
                    .jump(Opcodes.JNE, R1, 0, "blocked");
        }
        program.mov(R1, Ptrace.SIGURG)
                .call(BPF_SEND_SIGNAL_THREAD)
                .jump(Opcodes.JNE, R0, 0, "unsent")
                .loadMapValue(R1, counters, SENT)
                .jump("count")
                .label("unsent")
                .loadMapValue(R1, counters, UNSENT);
        if (mask.isPresent()) {
            program.jump("count").label("blocked").loadMapValue(R1, counters, BLOCKED);
        }
        return program.label("count")
                .mov(R2, 1)
                .atomic(8, Opcodes.ADD, R1, 0, R2)
                .mov(R0, 0)
                .exit()
                .assemble();
    }

    /** The offset in {@code struct task_struct} of the thread's blocked signals: one word of 64 bits. */
    private static OptionalInt offsetOfMask(Host host) {
        try {
            return KernelBtf.of(host).find().stream()
                    .flatMap(types ->
                            types.find("task_struct", BtfKind.STRUCT).stream().mapToObj(types::type))
                    .filter(BtfType.Struct.class::isInstance)
                    .flatMap(struct -> ((BtfType.Struct) struct).members().stream())
                    .filter(member -> member.name().equals("blocked"))
                    .mapToInt(member -> (int) (member.bitOffset() / 8))
                    .findFirst();
        } catch (RelocationException e) {
            return OptionalInt.empty();
        }
    }
}
