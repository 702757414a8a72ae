package io.bpf4j.cli.trace;

import java.util.List;

/**
 * One firing of a probe. <i>Immutable.</i>
 *
 * @param timeNs the time in nanoseconds of CLOCK_MONOTONIC
 * @param cookie the cookie given when the probe was attached; 0 if no attachment is known for the address
 * @param pid the process, numbered in the initial pid namespace
 * @param tid the thread, likewise
 * @param comm the thread's name, at most 15 bytes
 * @param args its arguments, up to 12
 */
public record TraceEvent(long timeNs, long cookie, int pid, int tid, String comm, List<Value> args) {
    public TraceEvent {
        args = List.copyOf(args);
    }

    /** The value of an argument. */
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
     * @param truncated whether the text was longer
     */
    public record Str(String text, boolean truncated) implements Value {}

    /**
     * The argument is not an address of readable text: its memory was not mapped, or its length was invalid.
     *
     * @param address the value of the argument
     */
    public record NoText(long address) implements Value {}

    /** The argument could not be read: its memory was not mapped, or its form is not supported. */
    public record Unreadable() implements Value {}
}
