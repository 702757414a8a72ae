package io.bpf4j.trace.internal.expression;

import io.bpf4j.insn.Opcodes;

/**
 * An operation on two numbers of 64 bits, with the results that BPF gives.
 *
 * <p>Tested by {@code GeneratedFunctionTest}, and by {@code ExpressionsOnKernelTest}.
 */
enum Operator {
    ADD("+", Opcodes.ADD),
    SUB("-", Opcodes.SUB),
    MUL("*", Opcodes.MUL),
    DIV("/", Opcodes.DIV),
    MOD("%", Opcodes.MOD),
    AND("&", Opcodes.AND),
    XOR("^", Opcodes.XOR),
    OR("|", Opcodes.OR),
    SHL("<<", Opcodes.LSH),
    SHR(">>", Opcodes.RSH);

    private final String symbol;
    private final int opcode;

    Operator(String symbol, int opcode) {
        this.symbol = symbol;
        this.opcode = opcode;
    }

    static Operator of(String symbol) {
        for (Operator operator : values()) {
            if (operator.symbol.equals(symbol)) {
                return operator;
            }
        }
        throw new AssertionError(symbol);
    }

    static boolean exists(String symbol) {
        for (Operator operator : values()) {
            if (operator.symbol.equals(symbol)) {
                return true;
            }
        }
        return false;
    }

    /** The BPF operation; right shift, division and remainder are the unsigned ones. */
    int opcode() {
        return opcode;
    }

    boolean isShift() {
        return this == SHL || this == SHR;
    }

    boolean isDivision() {
        return this == DIV || this == MOD;
    }

    long apply(long left, long right, boolean unsigned) {
        return switch (this) {
            case ADD -> left + right;
            case SUB -> left - right;
            case MUL -> left * right;
            case DIV -> right == 0 ? 0 : unsigned ? Long.divideUnsigned(left, right) : left / right;
            case MOD -> right == 0 ? left : unsigned ? Long.remainderUnsigned(left, right) : left % right;
            case AND -> left & right;
            case XOR -> left ^ right;
            case OR -> left | right;
            case SHL -> left << right;
            case SHR -> unsigned ? left >>> right : left >> right;
        };
    }
}
