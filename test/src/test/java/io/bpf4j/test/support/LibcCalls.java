package io.bpf4j.test.support;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What other code of a process does by its own calls of libc, which Java has no API for. */
public final class LibcCalls {
    private static final int AF_UNIX = 1;
    private static final int AF_PACKET = 17;
    private static final int SOCK_DGRAM = 2;
    private static final int SOL_SOCKET = 1;
    private static final int SO_ATTACH_BPF = 50;
    private static final int MSG_DONTWAIT = 0x40;

    // Of x86-64, of linux/seccomp.h, and of linux/bpf_common.h.
    private static final long SYS_SECCOMP = 317;
    private static final long SECCOMP_SET_MODE_FILTER = 1;
    private static final long SECCOMP_FILTER_FLAG_TSYNC = 1;
    private static final int SECCOMP_RET_ERRNO = 0x0005_0000;
    private static final int SECCOMP_RET_ALLOW = 0x7fff_0000;
    private static final int LOAD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int RETURN = 0x06;

    private LibcCalls() {}

    /** A second number, which the caller closes by {@link #close}. */
    public static int dup(int number) {
        return required("dup", number);
    }

    public static void close(int number) {
        required("close", number);
    }

    /** Two connected sockets for messages; the caller closes both. */
    public static int[] socketPair() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(JAVA_INT, 2);
            required("socketpair", AF_UNIX, SOCK_DGRAM, 0, pair);
            return pair.toArray(JAVA_INT);
        }
    }

    /** A socket of a family that has no addresses of two ends: AF_PACKET has no other end. The caller closes it. */
    public static int packetSocket() {
        return required("socket", AF_PACKET, SOCK_DGRAM, 0);
    }

    /** Makes a program the filter of what a socket receives. */
    public static void attachFilter(int socket, int program) {
        try (Arena arena = Arena.ofConfined()) {
            required("setsockopt", socket, SOL_SOCKET, SO_ATTACH_BPF, arena.allocateFrom(JAVA_INT, program), 4);
        }
    }

    public static void send(int socket, byte[] message) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(message.length).copyFrom(MemorySegment.ofArray(message));
            required("send", socket, bytes, (long) message.length, 0);
        }
    }

    /** The length of the message that waits at a socket, which is taken; -1 if none does. */
    public static int receive(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            return invoke("recv", socket, arena.allocate(64), 64L, MSG_DONTWAIT);
        }
    }

    /**
     * From now on, a system call fails with an error and does not reach the kernel, in all threads of this process and
     * in the processes that it starts: a filter of seccomp(2). It can't be taken back. On x86-64 only.
     *
     * @param call the number of the system call
     * @param argument which of its arguments must have the value, counted from 0; -1 to refuse every such call
     * @param value the lower 32 bits of that argument
     */
    public static void refuse(int call, int argument, int value, int errno) {
        // struct seccomp_data: the number of the call at 0, the arguments from 16 on.
        List<Filter> filter = new ArrayList<>(List.of(new Filter(LOAD, 0, 0)));
        if (argument < 0) {
            filter.add(new Filter(JUMP_IF_EQUAL, 1, call));
        } else {
            filter.add(new Filter(JUMP_IF_EQUAL, 3, call));
            filter.add(new Filter(LOAD, 0, 16 + Long.BYTES * argument));
            filter.add(new Filter(JUMP_IF_EQUAL, 1, value));
        }
        filter.add(new Filter(RETURN, 0, SECCOMP_RET_ERRNO | errno));
        filter.add(new Filter(RETURN, 0, SECCOMP_RET_ALLOW));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment instructions = arena.allocate((long) Filter.BYTES * filter.size(), Filter.BYTES);
            for (int i = 0; i < filter.size(); i++) {
                filter.get(i).write(instructions.asSlice((long) Filter.BYTES * i, Filter.BYTES));
            }
            MemorySegment program = arena.allocate(2L * Long.BYTES, Long.BYTES); // struct sock_fprog
            program.set(JAVA_SHORT, 0, (short) filter.size());
            program.set(ADDRESS, Long.BYTES, instructions);
            int result = invoke("syscall", SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
            if (result != 0) {
                throw new AssertionError("seccomp of system call " + call + " failed: " + result);
            }
        }
    }

    /**
     * An instruction of classic BPF, {@code struct sock_filter}.
     *
     * @param ifFalse how many instructions a jump leaves out if it does not hold
     * @param operand what is compared, returned, or the offset that is loaded from
     */
    private record Filter(int code, int ifFalse, int operand) {
        static final int BYTES = 8;

        void write(MemorySegment to) {
            to.set(JAVA_SHORT, 0, (short) code);
            to.set(JAVA_BYTE, 3, (byte) ifFalse);
            to.set(JAVA_INT, 4, operand);
        }
    }

    /** Runs a program with this process's descriptors, unlike a {@code ProcessBuilder}; returns its exit status. */
    public static int run(List<String> command) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pid = arena.allocate(JAVA_INT);
            int error = invoke(
                    "posix_spawnp",
                    pid,
                    arena.allocateFrom(command.getFirst()),
                    MemorySegment.NULL,
                    MemorySegment.NULL,
                    strings(arena, command.stream()),
                    strings(
                            arena,
                            System.getenv().entrySet().stream()
                                    .map((Map.Entry<String, String> e) -> e.getKey() + "=" + e.getValue())));
            if (error != 0) {
                throw new AssertionError("posix_spawnp of " + command + ": error " + error);
            }
            MemorySegment status = arena.allocate(JAVA_INT);
            required("waitpid", pid.get(JAVA_INT, 0), status, 0);
            int ended = status.get(JAVA_INT, 0);
            return (ended & 0x7f) == 0 ? ended >> 8 & 0xff : -(ended & 0x7f);
        }
    }

    private static MemorySegment strings(Arena arena, Stream<String> all) {
        List<MemorySegment> each = all.map(arena::allocateFrom).toList();
        MemorySegment array = arena.allocate(ADDRESS, each.size() + 1L); // ends with NULL
        for (int i = 0; i < each.size(); i++) {
            array.setAtIndex(ADDRESS, i, each.get(i));
        }
        return array;
    }

    private static int required(String function, Object... arguments) {
        int result = invoke(function, arguments);
        if (result < 0) {
            throw new AssertionError(function + " failed");
        }
        return result;
    }

    @SuppressWarnings("restricted") // the tests run with --enable-native-access
    private static int invoke(String function, Object... arguments) {
        MemoryLayout[] layouts = Stream.of(arguments)
                .map(argument ->
                        argument instanceof Integer ? JAVA_INT : argument instanceof Long ? JAVA_LONG : ADDRESS)
                .toArray(MemoryLayout[]::new);
        Linker linker = Linker.nativeLinker();
        try {
            return (int) linker.downcallHandle(
                            linker.defaultLookup().findOrThrow(function), FunctionDescriptor.of(JAVA_INT, layouts))
                    .invokeWithArguments(arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
