package io.bpf4j.loader.feature;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The few instructions that probes are made of, encoded for this machine. <i>Confined.</i>
 *
 * <p>An instruction is 8 bytes: opcode, a byte with both registers, s16 offset, s32 immediate; numbers in the machine's
 * order. In the register byte dst is the low half on little-endian machines and the high half on big-endian ones, as C
 * lays out bit-fields.
 */
final class ProbeProgram {
    /** Numbers of helpers ({@code ___BPF_FUNC_MAPPER} in include/uapi/linux/bpf.h). */
    static final int PROBE_READ_KERNEL = 113;

    static final int KTIME_GET_COARSE_NS = 160;
    static final int GET_ATTACH_COOKIE = 174;

    private static final int CALL_FUNCTION = 1; // BPF_PSEUDO_CALL
    private static final int MAP_VALUE = 2; // BPF_PSEUDO_MAP_VALUE
    private static final int FRAME = 10;

    private final ByteArrayOutputStream code = new ByteArrayOutputStream();

    /** dst = value. */
    ProbeProgram set(int dst, int value) {
        return add(0xb7, dst, 0, 0, value);
    }

    /** dst = frame pointer - bytes. */
    ProbeProgram stack(int dst, int bytes) {
        return add(0xbf, dst, FRAME, 0, 0).add(0x07, dst, 0, 0, -bytes);
    }

    /** dst += value. */
    ProbeProgram plus(int dst, int value) {
        return add(0x07, dst, 0, 0, value);
    }

    /** If dst is not 0, go on at a distance counted from the next instruction. */
    ProbeProgram ifNotZero(int dst, int distance) {
        return add(0x55, dst, 0, distance, 0);
    }

    ProbeProgram callHelper(int number) {
        return add(0x85, 0, 0, 0, number);
    }

    /** Calls the function at a distance counted from the next instruction. */
    ProbeProgram callFunction(int distance) {
        return add(0x85, 0, CALL_FUNCTION, 0, distance);
    }

    /** dst = address within the first value of an array. */
    ProbeProgram valueAddress(int dst, int mapFd, int offset) {
        return add(0x18, dst, MAP_VALUE, 0, mapFd).add(0, 0, 0, 0, offset);
    }

    /** The 8 bytes at dst = value. */
    ProbeProgram store(int dst, int value) {
        return add(0x7a, dst, 0, 0, value);
    }

    ProbeProgram exit() {
        return add(0x95, 0, 0, 0, 0);
    }

    byte[] encode() {
        return code.toByteArray();
    }

    private ProbeProgram add(int opcode, int dst, int src, int offset, int immediate) {
        boolean little = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        byte[] slot = ByteBuffer.allocate(8)
                .order(ByteOrder.nativeOrder())
                .put((byte) opcode)
                .put((byte) (little ? src << 4 | dst : dst << 4 | src))
                .putShort((short) offset)
                .putInt(immediate)
                .array();
        code.writeBytes(slot);
        return this;
    }
}
