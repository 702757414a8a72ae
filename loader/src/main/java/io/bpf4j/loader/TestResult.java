package io.bpf4j.loader;

/**
 * The result of {@link Program#test}. The arrays belong to the caller.
 *
 * @param returned return value of the last run
 * @param nanos average duration of a run in nanoseconds; 0 for program types that the kernel does not time
 * @param data the data after the last run, cut to the room given
 * @param context the context after the last run, cut to the room given
 */
@SuppressWarnings("ArrayRecordComponent") // results are not compared
public record TestResult(int returned, int nanos, byte[] data, byte[] context) {}
