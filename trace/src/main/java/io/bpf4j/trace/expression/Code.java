package io.bpf4j.trace.expression;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.util.ArrayList;
import java.util.List;

/**
 * The instructions of a function while they are generated, with the conventions that they share. <i>Confined.</i>
 *
 * <pre>
 *   R0           the value of what was evaluated last
 *   R1 to R5     for a moment: a call of a helper changes them
 *   R6           the event
 *   R7           the output
 *   R8           the tables
 *   R9           for a moment, across a call
 *   stack        from the top: a buffer for text, if one is needed; values that wait for others
 * </pre>
 *
 * <p>The kernel saves R6 to R9 for the caller. The verifier counts the stack of all functions that call each other,
 * hence the bound here.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Code {
    static final int EVENT = Assembler.R6;
    static final int OUT = Assembler.R7;
    static final int TABLES = Assembler.R8;

    static final int MAX_INSTRUCTIONS = 4_096;
    static final int MAX_STACK = 128;

    /** Values that may wait: fewer than fit the stack, so that a function without text needs 112 bytes. */
    private static final int MAX_WAITING = 14;

    private static final int PROBE_READ_USER = 112;
    private static final int PROBE_READ_USER_STR = 114;
    private static final String FAIL = "fail";

    private final Assembler assembler = Assembler.create();
    private final int reserved;
    private String text = "";
    private int size;
    private int labels;
    private int waiting;
    private boolean canFail;

    /** @param reserved bytes at the top of the stack that are used otherwise */
    Code(int reserved) {
        this.reserved = reserved;
    }

    /** The code from here on is generated for this expression. */
    void begin(Expression expression) {
        text = expression.text();
    }

    String label() {
        return "label " + labels++;
    }

    void place(String label) {
        assembler.label(label);
    }

    void constant(int register, long value) {
        if (isImmediate(value)) {
            count(1).mov(register, (int) value);
        } else {
            count(2).loadImm64(register, value);
        }
    }

    /** Whether an instruction can have it as its operand, which is extended by its sign. */
    static boolean isImmediate(long value) {
        return value == (int) value;
    }

    void move(int to, int from) {
        count(1).movReg(to, from);
    }

    void load(int bytes, int to, int base, int offset) {
        count(1).ldx(bytes, to, base, offset);
    }

    void store(int base, int offset, int from) {
        count(1).stx(Long.BYTES, base, offset, from);
    }

    /** Zeros, in words of 8 bytes. */
    void clear(int base, int offset, int bytes) {
        for (int at = 0; at < bytes; at += Long.BYTES) {
            count(1).st(Long.BYTES, base, offset + at, 0);
        }
    }

    void compute(int opcode, int register, int operand) {
        count(1).alu(opcode, register, operand);
    }

    void computeWith(int opcode, int register, int operandRegister) {
        count(1).aluReg(opcode, register, operandRegister);
    }

    /** The low bytes of a register, extended to 64 bits. */
    void extend(int register, Type.Int type) {
        int unused = 64 - 8 * type.size();
        if (unused == 0) {
            return;
        }
        if (!type.signed() && unused == 32) {
            count(1).alu32Reg(Opcodes.MOV, register, register);
        } else if (!type.signed()) {
            compute(Opcodes.AND, register, (1 << (8 * type.size())) - 1);
        } else {
            compute(Opcodes.LSH, register, unused);
            compute(Opcodes.ARSH, register, unused);
        }
    }

    void jump(String label) {
        count(1).jump(label);
    }

    void jumpIf(int relation, int register, int operand, String label) {
        count(1).jump(relation, register, operand, label);
    }

    void jumpIfWith(int relation, int register, int operandRegister, String label) {
        count(1).jumpReg(relation, register, operandRegister, label);
    }

    /**
     * Makes the verifier forget what it knows of R0. It follows each known value by itself, and after a condition with a
     * value it knows one for each way: with n of them it could follow 2^n ways. It does not know what an atomic
     * operation leaves in memory.
     */
    void forget() {
        int slot = push();
        clear(Assembler.R10, slot, Long.BYTES);
        count(1).atomic(Long.BYTES, Opcodes.ADD, Assembler.R10, slot, Assembler.R0);
        load(Long.BYTES, Assembler.R0, Assembler.R10, slot);
        pop();
    }

    /** The function ends with -1 if the bit of an argument is set; the register is changed. */
    void failIfUnreadable(int argument, int register) {
        load(4, register, EVENT, EventField.UNREADABLE);
        jumpIf(Opcodes.JSET, register, 1 << argument, fail());
    }

    /** Reads R2 bytes at the process' address R3 to R1. */
    void readUser() {
        count(1).call(PROBE_READ_USER);
        jumpIf(Opcodes.JNE, Assembler.R0, 0, fail());
    }

    /** Reads at most R2 bytes up to NUL at the process' address R3 to R1; R0: how many, with the NUL. */
    void readUserText() {
        count(1).call(PROBE_READ_USER_STR);
        jumpIf(Opcodes.JSLT, Assembler.R0, 0, fail());
    }

    void end(int result) {
        constant(Assembler.R0, result);
        count(1).exit();
    }

    /** Takes 8 bytes of the stack; their offset from R10. */
    int push() {
        waiting++;
        int bytes = reserved + waiting * Long.BYTES;
        if (waiting > MAX_WAITING || bytes > MAX_STACK) {
            throw refused("too many values wait for each other; nest less");
        }
        return -bytes;
    }

    /** Gives the last ones back. */
    void pop() {
        waiting--;
    }

    /** The function: parameters are kept where the code uses them, then the code, and where it fails. */
    List<Instruction> function() {
        if (canFail) {
            place(FAIL);
            end(-1);
        }
        List<Instruction> body = assembler.assemble();
        List<Instruction> function = new ArrayList<>();
        for (int parameter = 0; parameter < 3; parameter++) {
            int kept = EVENT + parameter;
            if (body.stream().anyMatch(i -> i.dst() == kept || i.src() == kept)) {
                function.addAll(Assembler.create()
                        .movReg(kept, Assembler.R1 + parameter)
                        .assemble());
            }
        }
        function.addAll(body);
        return function;
    }

    /** The expression as a whole can't be compiled. */
    ExpressionException refused(String reason) {
        return new ExpressionException(text, 0, reason);
    }

    private String fail() {
        canFail = true;
        return FAIL;
    }

    private Assembler count(int slots) {
        size += slots;
        if (size > MAX_INSTRUCTIONS) {
            throw refused("needs more than " + MAX_INSTRUCTIONS + " instructions");
        }
        return assembler;
    }
}
