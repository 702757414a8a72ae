package io.bpf4j.usdt;

import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/**
 * How to attach. Each method that takes a value returns a copy with this value. Defaults: all processes, cookie 0,
 * unreadable arguments allowed. <b>Immutable</b>.
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

    /** Attaches in this process only, in all its threads. The pid is one of the caller's pid namespace. */
    public AttachOptions pid(int pid) {
        if (pid <= 0) {
            throw new IllegalArgumentException("pid " + pid + " is not positive");
        }
        return new AttachOptions(OptionalInt.of(pid), cookies, strict);
    }

    /** Sets one cookie for all probes. */
    public AttachOptions cookie(long cookie) {
        return cookies(probe -> cookie);
    }

    /** Sets a cookie for each probe. A program attached to many probes can tell by the cookie which probe fired. */
    public AttachOptions cookies(ToLongFunction<UsdtProbe> cookies) {
        return new AttachOptions(pid, cookies, strict);
    }

    /**
     * Whether to refuse a probe with an argument that can't be read, as libbpf does; otherwise {@code bpf_usdt_arg()}
     * returns an error for this argument. The same holds for a probe with a site that must be left out; otherwise only
     * the other sites are attached.
     */
    public AttachOptions strict(boolean strict) {
        return new AttachOptions(pid, cookies, strict);
    }

    /**
     * The process to attach in; empty for all processes that run the file, now or later. If the process has not mapped
     * a file, {@link UsdtLink#problems} says so.
     */
    public OptionalInt pid() {
        return pid;
    }

    /**
     * The cookie of each probe, which {@code bpf_usdt_cookie()} returns in the program. The function is called once for
     * each probe.
     */
    public ToLongFunction<UsdtProbe> cookies() {
        return cookies;
    }

    /** Whether anything that can't be attached or read is an error: {@link #strict(boolean)}. */
    public boolean strict() {
        return strict;
    }
}
