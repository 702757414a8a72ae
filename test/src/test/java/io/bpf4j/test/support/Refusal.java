package io.bpf4j.test.support;

import io.bpf4j.sys.kernel.Errno;

/**
 * A system call of x86-64 that a process is refused, by a filter of seccomp(2): all of them, or those with a value in one
 * of their arguments. A filter sees no memory, and so neither a path nor the attributes of bpf(2).
 */
public enum Refusal {
    BPF(321, -1, 0),
    MAP_CREATE(321, 0, 0),
    MAP_UPDATE(321, 0, 2),
    PROG_LOAD(321, 0, 5),
    OBJ_PIN(321, 0, 6),
    OBJ_GET(321, 0, 7),
    OBJ_INFO(321, 0, 15),
    BTF_LOAD(321, 0, 18),
    MAP_FREEZE(321, 0, 22),
    LOOKUP_BATCH(321, 0, 24),
    LINK_CREATE(321, 0, 28),
    PROG_BIND_MAP(321, 0, 35),
    PERF_EVENT_OPEN(298, -1, 0),
    /** ioctl(2), PERF_EVENT_IOC_ENABLE. */
    ENABLE_EVENT(16, 1, 0x2400),
    /** With the flag MAP_SHARED and no other, as the JVM maps nothing by itself. */
    MMAP(9, 3, 1),
    EPOLL_CREATE(291, -1, 0),
    EVENTFD(290, -1, 0),
    /** openat(2), O_PATH | O_CLOEXEC: the first look at a file. */
    OPEN_TO_LOOK(257, 2, 0x28_0000),
    /** openat(2), O_NONBLOCK | O_CLOEXEC: the file is opened for reading. */
    OPEN_TO_READ(257, 2, 0x8_0800),
    /** ptrace(2), PTRACE_SEIZE. */
    SEIZE(101, 0, 0x4206),
    PIDFD_OPEN(434, -1, 0);

    private final int call;
    private final int argument;
    private final int value;

    Refusal(int call, int argument, int value) {
        this.call = call;
        this.argument = argument;
        this.value = value;
    }

    /** From now on this process and its children are refused the call. */
    void begin(Errno errno) {
        LibcCalls.refuse(call, argument, value, errno.number());
    }
}
