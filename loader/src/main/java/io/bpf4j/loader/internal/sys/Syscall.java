package io.bpf4j.loader.internal.sys;

/**
 * The numbers of the system calls that are made by number, for one architecture. <i>Immutable.</i>
 *
 * <p>x86-64: arch/x86/entry/syscalls/syscall_64.tbl. arm64, riscv64 and loongarch64: include/uapi/asm-generic/unistd.h,
 * which all architectures since 2011 use. s390x: arch/s390/kernel/syscalls/syscall.tbl. Calls made since 5.1 have one
 * number everywhere.
 */
record SyscallNumbers(
        long bpf,
        long perfEventOpen,
        long read,
        long write,
        long openat,
        long unlinkat,
        long mkdirat,
        long close,
        long ioctl,
        long munmap,
        long epollCreate1,
        long epollCtl,
        long epollPwait,
        long eventfd2,
        long prlimit64,
        long statx,
        long fcntl,
        long socket,
        long ptrace,
        long wait4,
        long tgkill,
        long pipe2,
        long rtSigaction,
        long kcmp,
        long connect,
        long getsockopt,
        long fchown) {
    /** include/uapi/asm-generic/unistd.h, the same everywhere. */
    static final long PIDFD_SEND_SIGNAL = 424;

    static final long FSOPEN = 430;

    static final long FSCONFIG = 431;
    static final long FSMOUNT = 432;
    static final long PIDFD_OPEN = 434;
    static final long PIDFD_GETFD = 438;

    private static final SyscallNumbers X86_64 = new SyscallNumbers(
            321, 298, 0, 1, 257, 263, 258, 3, 16, 11, 291, 233, 281, 290, 302, 332, 72, 41, 101, 61, 234, 293, 13, 312,
            42, 55, 93);
    private static final SyscallNumbers GENERIC = new SyscallNumbers(
            280, 241, 63, 64, 56, 35, 34, 57, 29, 215, 20, 21, 22, 19, 261, 291, 25, 198, 117, 260, 131, 59, 134, 272,
            203, 209, 55);
    private static final SyscallNumbers S390X = new SyscallNumbers(
            351, 331, 3, 4, 288, 294, 289, 6, 54, 91, 327, 250, 312, 323, 334, 379, 55, 359, 26, 114, 241, 325, 174,
            343, 362, 365, 207);

    /**
     * The numbers of an architecture.
     *
     * @param osArch the system property {@code os.arch}
     * @throws UnsupportedOperationException if they are not known
     */
    static SyscallNumbers of(String osArch) {
        return switch (osArch) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64", "riscv64", "loongarch64" -> GENERIC;
            case "s390x" -> S390X;
            default ->
                throw new UnsupportedOperationException("bpf4j does not know the system calls of " + osArch
                        + "; it knows amd64, aarch64, riscv64, loongarch64 and s390x");
        };
    }
}
