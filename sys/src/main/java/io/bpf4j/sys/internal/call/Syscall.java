package io.bpf4j.sys.internal.call;

/**
 * The system calls that are made by number. Each has its number on x86-64, on arm64, riscv64 and loongarch64, and on s390x.
 *
 * <p>x86-64: arch/x86/entry/syscalls/syscall_64.tbl. arm64, riscv64 and loongarch64: include/uapi/asm-generic/unistd.h,
 * which all architectures since 2011 use. s390x: arch/s390/kernel/syscalls/syscall.tbl. Calls made since 5.1 have one
 * number everywhere.
 */
enum Syscall {
    BPF(321, 280, 351),
    PERF_EVENT_OPEN(298, 241, 331),
    READ(0, 63, 3),
    WRITE(1, 64, 4),
    OPENAT(257, 56, 288),
    UNLINKAT(263, 35, 294),
    MKDIRAT(258, 34, 289),
    CLOSE(3, 57, 6),
    IOCTL(16, 29, 54),
    MUNMAP(11, 215, 91),
    EPOLL_CREATE1(291, 20, 327),
    EPOLL_CTL(233, 21, 250),
    EPOLL_PWAIT(281, 22, 312),
    EVENTFD2(290, 19, 323),
    PRLIMIT64(302, 261, 334),
    STATX(332, 291, 379),
    FSTATFS(138, 44, 100),
    FCNTL(72, 25, 55),
    SOCKET(41, 198, 359),
    PTRACE(101, 117, 26),
    WAIT4(61, 260, 114),
    TGKILL(234, 131, 241),
    PIPE2(293, 59, 325),
    RT_SIGACTION(13, 134, 174),
    KCMP(312, 272, 343),
    CONNECT(42, 203, 362),
    SETSOCKOPT(54, 208, 366),
    GETSOCKOPT(55, 209, 365),
    GETSOCKNAME(51, 204, 367),
    GETPEERNAME(52, 205, 368),
    FCHOWN(93, 55, 207),
    PIDFD_SEND_SIGNAL(424),
    FSOPEN(430),
    FSCONFIG(431),
    FSMOUNT(432),
    PIDFD_OPEN(434),
    PIDFD_GETFD(438);

    private final long x86;
    private final long generic;
    private final long s390;
    private final long number;

    Syscall(long x86, long generic, long s390) {
        this.x86 = x86;
        this.generic = generic;
        this.s390 = s390;
        this.number = numberOn(System.getProperty("os.arch", ""));
    }

    Syscall(long everywhere) {
        this(everywhere, everywhere, everywhere);
    }

    /**
     * The number on this machine; -1 if the machine is not supported, for which {@link #whyUnsupported} has the
     * message.
     */
    long number() {
        return number;
    }

    /** The number on an architecture, by the system property {@code os.arch}; -1 if it is not supported. */
    long numberOn(String osArch) {
        return switch (osArch) {
            case "amd64", "x86_64" -> x86;
            case "aarch64", "riscv64", "loongarch64" -> generic;
            case "s390x" -> s390;
            default -> -1;
        };
    }

    /** The reason why this machine is not supported; empty if it is. */
    static String whyUnsupported() {
        return BPF.number >= 0
                ? ""
                : "bpf4j has no system call numbers for architecture " + System.getProperty("os.arch", "")
                        + "; it supports amd64, aarch64, riscv64, loongarch64 and s390x";
    }
}
