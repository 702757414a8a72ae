package io.bpf4j.sys.internal.call;

/** Flags of open(2), from include/uapi/asm-generic/fcntl.h unless noted otherwise. */
public final class OpenFlags {
    public static final int RDONLY = 0;
    public static final int RDWR = 2;
    public static final int CREATE = 0100;

    /** With {@link #CREATE}: fails if the name exists, whatever kind of file it is. */
    public static final int EXCLUSIVE = 0200;

    public static final int NONBLOCK = 04000;
    public static final int CLOEXEC = 02000000;

    /** A file descriptor without access to the contents: needs no read permission. */
    public static final int PATH = 010000000;

    /** The last name of the path is not followed if it is a symbolic link. arm64 has a different number. */
    public static final int NOFOLLOW = System.getProperty("os.arch", "").equals("aarch64") ? 0100000 : 0400000;

    private OpenFlags() {}
}
