package io.bpf4j.usdt.internal.arg;

/** On 32-bit machines 8 bytes take two registers, and an operand names only the first ({@code 8f@%edx}). */
final class RegisterPair {
    private RegisterPair() {}

    static Operand check(Operand operand, int size, int wordSize) {
        return operand instanceof Operand.Register r && size > wordSize
                ? new Operand.Unsupported(
                        "a value of " + size + " bytes takes a pair of registers, and only " + r.name() + " is named")
                : operand;
    }
}
