package io.bpf4j.trace;

import io.bpf4j.loader.BpfObject;

/**
 * Whether a program counts events: if the caller wants it, unless it is suspended for a while. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code PairsAtOneAddressTest}.
 */
final class CountingSwitch {
    /** A variable of {@code question.bpf.c}. */
    private static final String SUSPENDED = "suspended";

    private final BpfObject object;
    private boolean wanted = true;
    private boolean suspended;

    CountingSwitch(BpfObject object) {
        this.object = object;
    }

    synchronized void want(boolean counting) {
        wanted = counting;
        set();
    }

    synchronized boolean isWanted() {
        return wanted;
    }

    synchronized void suspend(boolean forAWhile) {
        suspended = forAWhile;
        set();
    }

    private void set() {
        object.global(SUSPENDED).setLong(wanted && !suspended ? 0 : 1);
    }
}
