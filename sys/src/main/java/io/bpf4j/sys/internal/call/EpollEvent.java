package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

/**
 * {@code struct epoll_event} (include/uapi/linux/eventpoll.h): u32 events, u64 data. Packed only on x86-64, so that
 * 32-bit programs share it.
 *
 * <p>Tested by {@code LinuxKernelTest}.
 */
public final class EpollEvent {
    private static final boolean PACKED = Set.of("amd64", "x86_64").contains(System.getProperty("os.arch", ""));

    /** Bytes of one event in an array. */
    public static final int SIZE = PACKED ? 12 : 16;

    /** EPOLLIN. */
    public static final int READABLE = 1;

    /** EPOLLOUT. */
    public static final int WRITABLE = 4;

    /** EPOLLET: one event for each change to ready. */
    public static final int EDGE_TRIGGERED = 1 << 31;

    private static final long DATA = PACKED ? 4 : 8;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private EpollEvent() {}

    static void encode(MemorySegment event, int events, long data) {
        event.fill((byte) 0);
        event.set(ValueLayout.JAVA_INT, 0, events);
        event.set(U64, DATA, data);
    }

    /** The data that was registered with the file descriptor of the event at {@code index}. */
    public static long data(MemorySegment events, int index) {
        return events.get(U64, (long) index * SIZE + DATA);
    }
}
