package io.bpf4j.test.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** An event, as {@code struct question_event} of {@code question.h}, in the memory of this process. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record SampleEvent(
        SampleMemory memory,
        long[] args,
        long nsecs,
        long cookie,
        long cgroup,
        long retval,
        int pid,
        int tid,
        int uid,
        int cpu,
        int unreadable,
        String comm) {
    static final int SIZE = 168;

    /** Something that an expression needs can't be read. */
    static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unreadable() {
            super("", null, false, false);
        }
    }

    /** An event whose last four arguments are addresses, of which some are bad. */
    static SampleEvent random(Random random, SampleMemory memory) {
        long[] args = random.longs(12).toArray();
        for (int i = 0; i < 4; i++) {
            args[i] = random.nextInt(-3, 100);
        }
        for (int i = 8; i < 12; i++) {
            args[i] = random.nextInt(8) == 0 ? 16 : memory.textAddress(random);
        }
        return new SampleEvent(
                memory,
                args,
                random.nextLong(),
                random.nextInt(1, 5) | (long) random.nextInt(8) << 32,
                random.nextLong(),
                random.nextLong(),
                random.nextInt(),
                random.nextInt(100),
                random.nextInt(),
                random.nextInt(8),
                random.nextInt(3) == 0 ? 1 << random.nextInt(12) : 0,
                new String[] {"java", "postgres", "a", "", "fifteen-letters"}[random.nextInt(5)]);
    }

    long arg(int index, int size, boolean signed) {
        if ((unreadable >>> index & 1) != 0) {
            throw new Unreadable();
        }
        return narrow(args[index], size, signed);
    }

    /** The low bytes, extended. */
    static long narrow(long value, int size, boolean signed) {
        return switch (size) {
            case 1 -> signed ? (byte) value : value & 0xff;
            case 2 -> signed ? (short) value : value & 0xffff;
            case 4 -> signed ? (int) value : value & 0xffff_ffffL;
            default -> value;
        };
    }

    int probe() {
        return (int) cookie;
    }

    byte[] bytes() {
        ByteBuffer bytes = ByteBuffer.allocate(SIZE).order(ByteOrder.nativeOrder());
        Arrays.stream(args).forEach(bytes::putLong);
        bytes.putLong(nsecs).putLong(cookie).putLong(cgroup).putLong(retval);
        bytes.putInt(pid).putInt(tid).putInt(uid).putInt(cpu).putInt(12).putInt(unreadable);
        bytes.put(comm.getBytes(StandardCharsets.US_ASCII));
        return bytes.array();
    }
}
