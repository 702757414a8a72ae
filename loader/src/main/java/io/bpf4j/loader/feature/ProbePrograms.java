package io.bpf4j.loader.feature;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import java.nio.ByteOrder;

/** The programs that probes load, encoded for this machine. */
final class ProbePrograms {
    /** Numbers of helpers ({@code ___BPF_FUNC_MAPPER} in include/uapi/linux/bpf.h). */
    static final int KTIME_GET_COARSE_NS = 160;

    static final int GET_ATTACH_COOKIE = 174;
    private static final int PROBE_READ_KERNEL = 113;

    private ProbePrograms() {}

    /** {@code return value;} */
    static byte[] returning(int value) {
        return encode(Assembler.create().mov(R0, value).exit());
    }

    /** {@code return helper(ctx);} */
    static byte[] callingHelper(int helper) {
        return encode(Assembler.create().call(helper).exit());
    }

    /** Two functions, one calling the other. */
    static byte[] callingFunction() {
        return encode(Assembler.create()
                .callLabel("function")
                .exit()
                .label("function")
                .mov(R0, 0)
                .exit());
    }

    /**
     * Two functions as {@link #callingFunction}, of which the second, in slot 2, reads the first field of the context.
     */
    static byte[] passingContext() {
        return encode(Assembler.create()
                .callLabel("function")
                .exit()
                .label("function")
                .ldx(4, R0, R1, 0)
                .exit());
    }

    /** A jump backwards, ten times. */
    static byte[] looping() {
        return encode(Assembler.create()
                .mov(R0, 10)
                .label("again")
                .alu(Opcodes.ADD, R0, -1)
                .jump(Opcodes.JNE, R0, 0, "again")
                .exit());
    }

    /** Writes into the value of an array without a lookup. */
    static byte[] writingGlobal(int arrayFd) {
        return encode(Assembler.create()
                .loadMapValue(R1, arrayFd, 16)
                .st(8, R1, 0, 42)
                .mov(R0, 0)
                .exit());
    }

    /** Would read 8 bytes of kernel memory at address 0; it never runs. */
    static byte[] readingKernel() {
        return encode(Assembler.create()
                .movReg(R1, R10)
                .alu(Opcodes.ADD, R1, -8)
                .mov(R2, 8)
                .mov(R3, 0)
                .call(PROBE_READ_KERNEL)
                .exit());
    }

    private static byte[] encode(Assembler program) {
        return Instructions.encode(program.assemble(), ByteOrder.nativeOrder());
    }
}
