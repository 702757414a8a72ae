package io.bpf4j.trace.internal.expression;

import io.bpf4j.insn.Opcodes;

/**
 * A relation between two numbers of 64 bits.
 *
 * <p>Tested by {@code GeneratedFunctionTest}, and by {@code ExpressionsOnKernelTest}.
 */
enum Relation {
    EQUAL("==", Opcodes.JEQ, Opcodes.JEQ),
    UNEQUAL("!=", Opcodes.JNE, Opcodes.JNE),
    LESS("<", Opcodes.JSLT, Opcodes.JLT),
    AT_MOST("<=", Opcodes.JSLE, Opcodes.JLE),
    MORE(">", Opcodes.JSGT, Opcodes.JGT),
    AT_LEAST(">=", Opcodes.JSGE, Opcodes.JGE);

    private final String symbol;
    private final int signedJump;
    private final int unsignedJump;

    Relation(String symbol, int signedJump, int unsignedJump) {
        this.symbol = symbol;
        this.signedJump = signedJump;
        this.unsignedJump = unsignedJump;
    }

    static Relation of(String symbol) {
        for (Relation relation : values()) {
            if (relation.symbol.equals(symbol)) {
                return relation;
            }
        }
        throw new AssertionError(symbol);
    }

    /** The BPF jump that is taken if the relation holds. */
    int jump(boolean unsigned) {
        return unsigned ? unsignedJump : signedJump;
    }

    /** The relation that holds if this one doesn't. */
    Relation inverse() {
        return switch (this) {
            case EQUAL -> UNEQUAL;
            case UNEQUAL -> EQUAL;
            case LESS -> AT_LEAST;
            case AT_MOST -> MORE;
            case MORE -> AT_MOST;
            case AT_LEAST -> LESS;
        };
    }

    /** The relation that says the same with its sides exchanged. */
    Relation mirrored() {
        return switch (this) {
            case EQUAL, UNEQUAL -> this;
            case LESS -> MORE;
            case AT_MOST -> AT_LEAST;
            case MORE -> LESS;
            case AT_LEAST -> AT_MOST;
        };
    }

    boolean holds(long left, long right, boolean unsigned) {
        int order = unsigned ? Long.compareUnsigned(left, right) : Long.compare(left, right);
        return switch (this) {
            case EQUAL -> order == 0;
            case UNEQUAL -> order != 0;
            case LESS -> order < 0;
            case AT_MOST -> order <= 0;
            case MORE -> order > 0;
            case AT_LEAST -> order >= 0;
        };
    }
}
