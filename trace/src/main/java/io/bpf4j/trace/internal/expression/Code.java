package io.bpf4j.trace.internal.expression;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The instructions of a function while they are generated, and the use of registers that all generators share.
 * <i>Confined.</i>
 *
 * <pre>
 *   R0           the value that was evaluated last
 *   R1 to R5     temporary; a call of a helper clobbers them
 *   R6           the event
 *   R7           the output
 *   R8           the tables
 *   R9           temporary, and preserved by calls
 *   stack        from the top: a buffer for text, if one is needed; then values that wait for others
 * </pre>
 *
 * <p>The kernel saves R6 to R9 for the caller. The verifier bounds the stack of the whole call chain, so this function
 * uses at most {@link #MAX_STACK} bytes.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Code {
    static final int EVENT = Assembler.R6;
    static final int OUT = Assembler.R7;
    static final int TABLES = Assembler.R8;

    static final int MAX_INSTRUCTIONS = 4_096;
    static final int MAX_STACK = 128;

    /**
     * The maximum number of values of 8 bytes that may wait on the stack: 112 bytes, less than the stack of a function.
     */
    private static final int MAX_WAITING = 14;

    private static final Helper PROBE_READ_USER = Helper.named("bpf_probe_read_user");
    private static final Helper PROBE_READ_USER_STR = Helper.named("bpf_probe_read_user_str");
    private static final String FAIL = "fail";

    /** The label of the code that runs if a value can't be read. */
    private String failing = FAIL;

    private final Assembler assembler = Assembler.create();
    private final int reserved;
    private String text = "";
    private int size;
    private int labels;
    private int waiting;
    private boolean canFail;

    /** What the function reads of the event: {@link GeneratedFunction#arguments} and its fields. */
    private int arguments;

    private final Set<Field> fields = EnumSet.noneOf(Field.class);

    /** @param reserved bytes at the top of the stack that are not for waiting values */
    Code(int reserved) {
        this.reserved = reserved;
    }

    /** Starts the code of an expression; later errors refer to this expression. */
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

    /** Whether a value can be the operand of an instruction, which sign-extends 32 bits. */
    static boolean isImmediate(long value) {
        return value == (int) value;
    }

    void move(int to, int from) {
        count(1).movReg(to, from);
    }

    void load(int bytes, int to, int base, int offset) {
        count(1).ldx(bytes, to, base, offset);
    }

    /** Loads an argument of the event; ends the function with -1 if it could not be read. */
    void loadArgument(int register, int index) {
        arguments |= 1 << index;
        load(4, register, EVENT, EventField.UNREADABLE);
        jumpIf(Opcodes.JSET, register, 1 << index, fail());
        load(Long.BYTES, register, EVENT, index * Long.BYTES);
    }

    /** Loads a field of the event. */
    void loadField(int register, EventField field) {
        field.filled().ifPresent(fields::add);
        load(field.type().size(), register, EVENT, field.offset());
    }

    /** Has a field of the event filled that other code copies. */
    void need(Field field) {
        fields.add(field);
    }

    void store(int base, int offset, int from) {
        count(1).stx(Long.BYTES, base, offset, from);
    }

    /** Writes zeros, in words of 8 bytes. */
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

    /** Extends the low bytes of a register to 64 bits. */
    void extend(int register, ValueType.Int type) {
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
     * Makes the verifier forget what it knows about R0. It follows each known value separately, and a condition that
     * gives a value leaves a known one on each of two paths: n conditions could make 2^n paths. It does not know what
     * an atomic operation leaves in memory.
     */
    void forget() {
        int slot = push();
        clear(Assembler.R10, slot, Long.BYTES);
        count(1).atomic(Long.BYTES, Opcodes.ADD, Assembler.R10, slot, Assembler.R0);
        load(Long.BYTES, Assembler.R0, Assembler.R10, slot);
        pop();
    }

    /** Ends the function with -1 if a value of the begin could not be read. Changes the register. */
    void failIfUnreadable(Term.Slot slot, int register) {
        load(Long.BYTES, register, EVENT, EventField.BEGIN);
        load(Long.BYTES, register, register, 0);
        jumpIf(Opcodes.JSET, register, 1 << slot.bit(), fail());
    }

    /**
     * From now on, if a value can't be read, sets a bit in the first word of the output and continues after {@link
     * #endOfPart}, instead of ending the function with -1.
     */
    void beginPart() {
        failing = label();
        canFail = false;
    }

    void endOfPart(int bit) {
        if (canFail) {
            String next = label();
            jump(next);
            place(failing);
            load(Long.BYTES, Assembler.R1, OUT, 0);
            compute(Opcodes.OR, Assembler.R1, 1 << bit);
            store(OUT, 0, Assembler.R1);
            place(next);
        }
        failing = FAIL;
        canFail = false;
    }

    /** Reads R2 bytes at the process's address R3 to R1. */
    void readUser() {
        count(1).call(PROBE_READ_USER.number());
        jumpIf(Opcodes.JNE, Assembler.R0, 0, fail());
    }

    /** Reads at most R2 bytes at the process's address R3 to R1, up to NUL. R0 = the number of bytes, with the NUL. */
    void readUserText() {
        count(1).call(PROBE_READ_USER_STR.number());
        jumpIf(Opcodes.JSLT, Assembler.R0, 0, fail());
    }

    void end(int result) {
        constant(Assembler.R0, result);
        count(1).exit();
    }

    /** Reserves 8 bytes of the stack; returns their offset from R10. */
    int push() {
        waiting++;
        int bytes = reserved + waiting * Long.BYTES;
        if (waiting > MAX_WAITING || bytes > MAX_STACK) {
            throw refused("too many values are needed at the same time; nest the expression less deeply");
        }
        return -bytes;
    }

    /** Releases the 8 bytes that were reserved last. */
    void pop() {
        waiting--;
    }

    /** The whole function: it saves the parameters that the code uses, followed by the code and its failing end. */
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

    /** The arguments that the code loads; bit n for {@code argN}. */
    int arguments() {
        return arguments;
    }

    /** The fields that the code reads, and that are filled on demand. */
    Set<Field> fields() {
        return fields;
    }

    /** An error that concerns the expression as a whole. */
    ExpressionException refused(String reason) {
        return new ExpressionException(text, 0, reason);
    }

    private String fail() {
        canFail = true;
        return failing;
    }

    private Assembler count(int slots) {
        size += slots;
        if (size > MAX_INSTRUCTIONS) {
            throw refused("needs more than " + MAX_INSTRUCTIONS + " instructions");
        }
        return assembler;
    }
}
