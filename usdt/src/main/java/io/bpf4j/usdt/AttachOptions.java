package io.bpf4j.usdt;

import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/**
 * How to attach. Each method that takes a value gives options that differ in it. Defaults: all processes, cookie 0,
 * arguments that can't be read allowed. <b>Immutable</b>.
 */
public final class AttachOptions {
    private static final AttachOptions DEFAULTS = new AttachOptions(OptionalInt.empty(), probe -> 0, false);

    private final OptionalInt pid;
    private final ToLongFunction<UsdtProbe> cookies;
    private final boolean strict;

    private AttachOptions(OptionalInt pid, ToLongFunction<UsdtProbe> cookies, boolean strict) {
        this.pid = pid;
        this.cookies = cookies;
        this.strict = strict;
    }

    public static AttachOptions defaults() {
        return DEFAULTS;
    }

    /** Only this process, all its threads. The number is one of the caller's pid namespace. */
    public AttachOptions pid(int pid) {
        if (pid <= 0) {
            throw new IllegalArgumentException("pid " + pid + " is not positive");
        }
        return new AttachOptions(OptionalInt.of(pid), cookies, strict);
    }

    /** One cookie for all probes. */
    public AttachOptions cookie(long cookie) {
        return cookies(probe -> cookie);
    }

    /** A cookie for each probe, by which a program that serves many can tell which one fired. */
    public AttachOptions cookies(ToLongFunction<UsdtProbe> cookies) {
        return new AttachOptions(pid, cookies, strict);
    }

    /**
     * Whether to refuse a probe with an argument that can't be read, as libbpf does, rather than let {@code
     * bpf_usdt_arg()} fail for that argument; and a probe of which a site has to be left out, rather than attach to the
     * others.
     */
    public AttachOptions strict(boolean strict) {
        return new AttachOptions(pid, cookies, strict);
    }

    /**
     * The process to attach in; empty for all processes that run the file, now or later. If it has not mapped a file, {@link
     * UsdtLink#problems} says so.
     */
    public OptionalInt pid() {
        return pid;
    }

    /** The cookie of each probe: what {@code bpf_usdt_cookie()} returns in the program. Called once for each probe. */
    public ToLongFunction<UsdtProbe> cookies() {
        return cookies;
    }

    /** Whether anything that can't be attached or read is an error: {@link #strict(boolean)}. */
    public boolean strict() {
        return strict;
    }
}
