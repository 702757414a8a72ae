package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;

import java.lang.foreign.MemorySegment;

/**
 * The token's file descriptor in the parts of {@code union bpf_attr} that accept one, and the part for BPF_TOKEN_CREATE
 * (include/uapi/linux/bpf.h, 6.18). Each of the three has the field after those that kernels without tokens know, and a
 * flag that the field is set.
 */
final class TokenAttr {
    /** BPF_F_TOKEN_FD. */
    private static final int TOKEN_FD = 1 << 16;

    private static final long CREATE_FLAGS = 0;
    private static final long CREATE_BPFFS_FD = 4;
    private static final long CREATE_SIZE = 8;

    private static final long MAP_FLAGS = 16;
    private static final long MAP_TOKEN_FD = 76;
    private static final long PROG_FLAGS = 44;
    private static final long PROG_TOKEN_FD = 144;
    private static final long BTF_FLAGS = 32;
    private static final long BTF_TOKEN_FD = 36;

    private TokenAttr() {}

    static long encode(MemorySegment attr, TokenCommand.Create create) {
        attr.set(U32, CREATE_FLAGS, 0);
        attr.set(U32, CREATE_BPFFS_FD, create.bpffs().number());
        return CREATE_SIZE;
    }

    /** Adds the token to an encoded BPF_MAP_CREATE of that size; returns the new size. */
    static long addToMap(MemorySegment attr, long size, Fd token) {
        return add(attr, size, MAP_FLAGS, MAP_TOKEN_FD, token);
    }

    static long addToProgram(MemorySegment attr, long size, Fd token) {
        return add(attr, size, PROG_FLAGS, PROG_TOKEN_FD, token);
    }

    static long addToBtf(MemorySegment attr, long size, Fd token) {
        return add(attr, size, BTF_FLAGS, BTF_TOKEN_FD, token);
    }

    private static long add(MemorySegment attr, long size, long flags, long place, Fd token) {
        // To the next multiple of 8, as C would have it.
        long needed = Math.max(size, (place + Integer.BYTES + 7) & ~7L);
        attr.asSlice(size, needed - size).fill((byte) 0);
        attr.set(U32, flags, attr.get(U32, flags) | TOKEN_FD);
        attr.set(U32, place, token.number());
        return needed;
    }
}
