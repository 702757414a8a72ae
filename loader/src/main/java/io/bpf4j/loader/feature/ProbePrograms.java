package io.bpf4j.loader.feature;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import java.nio.ByteOrder;

/** The programs that probes load, encoded for this machine. */
final class ProbePrograms {
    private ProbePrograms() {}

    /** {@code return value;} */
    static byte[] returning(int value) {
        return encode(Assembler.create().mov(R0, value).exit());
    }

    /** {@code helper(ctx); return 0;} */
    static byte[] callingHelper(int helper) {
        return encode(Assembler.create().call(helper).mov(R0, 0).exit());
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

    /** Compares and exchanges 8 bytes of the stack. */
    static byte[] exchanging() {
        return encode(Assembler.create()
                .st(8, R10, -8, 0)
                .mov(R0, 0)
                .mov(R1, 1)
                .atomic(8, Opcodes.CMPXCHG, R10, -8, R1)
                .mov(R0, 0)
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

    /** Reads {@code migrating_sk} of {@code struct sk_reuseport_md}. */
    static byte[] readingMigratingSocket() {
        return encode(Assembler.create().ldx(8, R0, R1, 48).mov(R0, 0).exit());
    }

    private static byte[] encode(Assembler program) {
        return Instructions.encode(program.assemble(), ByteOrder.nativeOrder());
    }
}
