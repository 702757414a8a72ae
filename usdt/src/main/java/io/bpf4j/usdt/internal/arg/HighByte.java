package io.bpf4j.usdt.internal.arg;

/** {@code %ah} and its kin hold one byte; more would be read from the neighbouring register. */
final class HighByte {
    private HighByte() {}

    static Operand check(Operand operand, int size) {
        boolean tooWide = operand instanceof Operand.Register r
                && r.name().length() == 2
                && r.name().endsWith("h")
                && size > 1;
        return tooWide
                ? new Operand.Unsupported("a value of " + size + " bytes does not fit a register of one")
                : operand;
    }
}
