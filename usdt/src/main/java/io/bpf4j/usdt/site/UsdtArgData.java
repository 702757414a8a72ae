package io.bpf4j.usdt.site;

/** The only implementation of {@link UsdtArg}. */
record UsdtArgData(int size, boolean signed, boolean isFloat, Operand operand) implements UsdtArg {
    @Override
    public UsdtArg withFloat() {
        return new UsdtArgData(size, signed, true, operand);
    }
}
