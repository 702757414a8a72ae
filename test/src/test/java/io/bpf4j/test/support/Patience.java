package io.bpf4j.test.support;

/**
 * How long to wait for something that surely comes, where a bound is there only to end a test that hangs. On an
 * emulated processor all of it takes longer by a factor, which {@code test/vm/run} puts into {@code BPF4J_PATIENCE}.
 */
public final class Patience {
    private static final int FACTOR = Integer.parseInt(System.getenv().getOrDefault("BPF4J_PATIENCE", "1"));

    private Patience() {}

    /** A time that is enough on an idle machine of today, in any unit, for this one. */
    public static long scaled(long usual) {
        return usual * FACTOR;
    }

    /** How many of so many events there are time for. */
    public static long fewer(long usual) {
        return usual / FACTOR;
    }
}
