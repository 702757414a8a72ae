package io.bpf4j.trace.internal.expression;

/**
 * Memory that text is read into. <i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionsOnKernelTest}.
 *
 * @param base the register from which the offset counts
 * @param offset of the first byte, in bytes; a multiple of 8
 * @param size in bytes, a multiple of 8
 */
record Window(int base, int offset, int size) {
    Window firstHalf() {
        return new Window(base, offset, size / 2);
    }

    Window secondHalf() {
        return new Window(base, offset + size / 2, size / 2);
    }
}
