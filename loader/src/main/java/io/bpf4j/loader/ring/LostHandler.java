package io.bpf4j.loader.ring;

/** Is told of records that found no room in a perf buffer. */
@FunctionalInterface
public interface LostHandler {
    /**
     * Records were lost, between the one handed out before and the next.
     *
     * @param cpu whose ring was full
     * @param count records lost
     */
    void onLost(int cpu, long count);
}
