package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.Text;
import io.bpf4j.trace.event.ProbeEvent;

/**
 * A cache of the written form of threads: process, thread and the thread's name. Few threads fire at a time. Two
 * threads with the same slot of the cache replace each other, which only costs encoding them again. <i>Confined.</i>
 *
 * <p>Tested by {@code EventFormatTest}.
 */
final class ThreadNames {
    private static final int ENTRIES = 256;
    private static final int KEY = 3;

    /** Encodes a thread. */
    @FunctionalInterface
    interface Form {
        /**
         * The bytes for a thread.
         *
         * @param comm the thread's name, decoded but not escaped
         */
        byte[] encode(int pid, int tid, String comm);
    }

    private final Form form;

    /** For each entry three words of the record: the pid and tid, and the 16 bytes of the name. */
    private final long[] keys = new long[KEY * ENTRIES];

    private final byte[][] names = new byte[ENTRIES][];

    ThreadNames(Form form) {
        this.form = form;
    }

    /** The written form of an event's thread. */
    byte[] of(ProbeEvent event) {
        long ids = event.ids();
        long first = event.comm(0);
        long second = event.comm(1);
        long mixed = ((ids * 31 + first) * 31 + second) * 0x9e37_79b9_7f4a_7c15L;
        int at = (int) (mixed >>> (Long.SIZE - 8));
        int key = KEY * at;
        byte[] name = names[at];
        if (name == null || keys[key] != ids || keys[key + 1] != first || keys[key + 2] != second) {
            name = form.encode(event.pid(), event.tid(), Text.decode(event.comm()));
            keys[key] = ids;
            keys[key + 1] = first;
            keys[key + 2] = second;
            names[at] = name;
        }
        return name;
    }
}
