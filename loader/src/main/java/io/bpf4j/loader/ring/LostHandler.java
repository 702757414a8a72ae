package io.bpf4j.loader.ring;

/** Handles lost records: records that did not fit into a full perf buffer. */
@FunctionalInterface
public interface LostHandler {
    /**
     * Records were lost between the previous record and the next.
     *
     * @param cpu whose ring was full
     * @param count records lost
     */
    void onLost(int cpu, long count);
}
