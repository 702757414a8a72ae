package io.bpf4j.usdt.internal.arg;

/**
 * One argument of an argument string. <b>Immutable</b>.
 *
 * @param size bytes of the value: 1, 2, 4 or 8, or what an unsupported argument declares
 * @param signed whether the value is sign-extended to 64 bits
 * @param isFloat whether the bits of the value are a floating point number
 * @param operand where the value is
 * @param raw the text of the argument
 */
public record Argument(int size, boolean signed, boolean isFloat, Operand operand, String raw) {}
