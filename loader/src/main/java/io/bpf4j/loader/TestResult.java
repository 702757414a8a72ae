package io.bpf4j.loader;

/**
 * What {@link Program#test} gave. The arrays are the caller's.
 *
 * @param returned what the program returned, the last time
 * @param nanos average duration of a run in nanoseconds; 0 for kinds of program that are not timed
 * @param data what the program made of the data, as far as there was room
 * @param context what the program made of the context, as far as there was room
 */
@SuppressWarnings("ArrayRecordComponent") // a result is looked at, not compared
public record TestResult(int returned, int nanos, byte[] data, byte[] context) {}
