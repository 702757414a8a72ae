package io.bpf4j.loader.internal.sys;

/** Flags of open(2) that are the same on every machine bpf4j runs on (include/uapi/asm-generic/fcntl.h). */
public final class OpenFlags {
    public static final int RDONLY = 0;
    public static final int RDWR = 2;
    public static final int NONBLOCK = 04000;
    public static final int CLOEXEC = 02000000;

    /** A file descriptor without access to the contents: needs no read permission. */
    public static final int PATH = 010000000;

    private OpenFlags() {}
}
