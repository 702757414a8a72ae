package io.bpf4j.test.loader;

import java.util.concurrent.ThreadLocalRandom;

/** Names for congestion controls, of which the kernel has one list for all that runs on the machine. */
public final class CongestionControl {
    private CongestionControl() {}

    /** One that no other test run has: at random, since processes of different containers may have the same number. */
    public static String newName() {
        return "bpf4j_%08x".formatted(ThreadLocalRandom.current().nextInt());
    }
}
