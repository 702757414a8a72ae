package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.insn.Assembler.R4;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A ring buffer and a program that writes into it each time it runs: a record of 16 bytes, u64 count from 0 and u64
 * mark. The program runs by BPF_PROG_TEST_RUN, as often as a test says.
 */
final class RingEmitter implements AutoCloseable {
    static final int RECORD_SIZE = 16;

    /** A record and its header. */
    static final int SPACE = 24;

    static final int NO_WAKEUP = 1; // BPF_RB_NO_WAKEUP

    private static final int RINGBUF_OUTPUT = 130;
    private static final int RINGBUF_RESERVE = 131;
    private static final int RINGBUF_DISCARD = 133;

    private final KernelMap ring;
    private final KernelMap counter;
    private final Fd output;
    private final Fd discard;

    RingEmitter(String name, int bytes, int flags, int mark) {
        ring = KernelMap.create(
                Host.running(), MapCommand.Create.of(MapType.RINGBUF.number(), name, 0, 0, bytes), name);
        counter = KernelMap.create(
                Host.running(), MapCommand.Create.of(MapType.ARRAY.number(), "counter", 4, 8, 1), "counter");
        output = load(Assembler.create()
                .loadMapValue(R1, counter.fd().number(), 0)
                .ldx(8, R2, R1, 0)
                .stx(8, R10, -16, R2)
                .alu(Opcodes.ADD, R2, 1)
                .stx(8, R1, 0, R2)
                .st(8, R10, -8, mark)
                .loadMapFd(R1, ring.fd().number())
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -16)
                .mov(R3, RECORD_SIZE)
                .mov(R4, flags)
                .call(RINGBUF_OUTPUT)
                .exit());
        discard = load(Assembler.create()
                .loadMapFd(R1, ring.fd().number())
                .mov(R2, RECORD_SIZE)
                .mov(R3, 0)
                .call(RINGBUF_RESERVE)
                .jump(Opcodes.JEQ, R0, 0, "full")
                .movReg(R1, R0)
                .mov(R2, 0)
                .call(RINGBUF_DISCARD)
                .label("full")
                .mov(R0, 0)
                .exit());
    }

    KernelMap map() {
        return ring;
    }

    /** Writes records; gives what the last run returned: 0, or a negative error number when the ring was full. */
    int emit(int count) {
        return run(output, count);
    }

    /** Reserves a record and takes it back. */
    void discard(int count) {
        run(discard, count);
    }

    private static int run(Fd program, int count) {
        return Kernel.of(Host.running())
                .execute(new ProgCommand.TestRun(program, new byte[14], 0, new byte[0], 0, count, 0, 0, 0))
                .returned();
    }

    private Fd load(Assembler program) {
        byte[] code = Instructions.encode(program.assemble(), ByteOrder.nativeOrder());
        ProgCommand.Load load = ProgCommand.Load.of(ProgramType.SOCKET_FILTER.number(), "emit", code, "GPL")
                .withInstructionFds(List.of(ring.fd(), counter.fd()))
                .withLog(new ProgCommand.Log(1, 1 << 16));
        return switch (Kernel.of(Host.running()).execute(load)) {
            case LoadResult.Loaded loaded -> loaded.fd();
            case LoadResult.Refused refused -> throw new AssertionError(refused.log());
        };
    }

    @Override
    public void close() {
        discard.close();
        output.close();
        counter.close();
        ring.close();
    }
}
