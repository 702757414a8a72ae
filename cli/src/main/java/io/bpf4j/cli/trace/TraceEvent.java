package io.bpf4j.cli.trace;

import java.util.List;

/**
 * A probe that fired. <i>Immutable.</i>
 *
 * @param timeNs when, in nanoseconds of CLOCK_MONOTONIC
 * @param cookie which attachment: what was given when the probe was attached; 0 if no attachment is known for the place
 *     that was hit
 * @param pid the process, as the initial pid namespace numbers it
 * @param tid the thread, likewise
 * @param comm the thread's name, at most 15 bytes
 * @param args its arguments, up to 12
 */
public record TraceEvent(long timeNs, long cookie, int pid, int tid, String comm, List<Value> args) {
    public TraceEvent {
        args = List.copyOf(args);
    }

    /** What was read of an argument. */
    public sealed interface Value {}

    /**
     * A number, sign- or zero-extended to 64 bits as the probe declares; the raw bits of a floating-point argument.
     *
     * @param bits the 64 bits
     */
    public record Num(long bits) implements Value {}

    /**
     * The text an argument points to.
     *
     * @param text decoded, not escaped
     * @param truncated whether there was more
     */
    public record Str(String text, boolean truncated) implements Value {}

    /**
     * The argument is no address of text that can be read: its memory was not there, or its length was none.
     *
     * @param address what the argument holds
     */
    public record NoText(long address) implements Value {}

    /** The argument could not be read: its memory was not there, or its form is not supported. */
    public record Unreadable() implements Value {}
}
