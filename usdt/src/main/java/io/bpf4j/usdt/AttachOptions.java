package io.bpf4j.usdt;

import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/**
 * The options of an attachment. <i>Immutable.</i>
 *
 * <p>Tested by {@code UsdtTransactionTest} and {@code ScannedFilesTest}.
 */
public sealed interface AttachOptions permits AttachOptionsData {
    /** All processes, or the process of the {@link UsdtScan}; cookie 0; unreadable arguments allowed. */
    static AttachOptions defaults() {
        return AttachOptionsData.DEFAULTS;
    }

    /** Attaches in this process only, in all its threads. The pid is a number of the caller's pid namespace. */
    AttachOptions withPid(int pid);

    /** Sets one cookie for all probes. */
    default AttachOptions withCookie(long cookie) {
        return withCookies(_ -> cookie);
    }

    /** Sets a cookie for each probe. A program attached to many probes can tell by the cookie which probe fired. */
    AttachOptions withCookies(ToLongFunction<UsdtProbe> cookies);

    /**
     * Whether to refuse a probe with an argument that can't be read, as libbpf does; otherwise {@code bpf_usdt_arg()}
     * returns an error for this argument. The same holds for a probe with a site that must be left out; otherwise only
     * the other sites are attached.
     */
    AttachOptions withStrict(boolean strict);

    /**
     * The process to attach in. Empty means the process of the {@link UsdtScan}; for a scan of files or a list of
     * probes it means all processes that run the file, now or later. If the process has not mapped a file, {@link
     * UsdtLink#problems} says so.
     */
    OptionalInt pid();

    /**
     * The cookie of each probe, which {@code usdt_cookie()} returns in the program, or {@code bpf_usdt_cookie()} of
     * libbpf's header. The function is called once for each probe.
     */
    ToLongFunction<UsdtProbe> cookies();

    /** Whether a site that can't be attached and an argument that can't be read are errors: {@link #withStrict}. */
    boolean strict();
}

record AttachOptionsData(OptionalInt pid, ToLongFunction<UsdtProbe> cookies, boolean strict) implements AttachOptions {
    static final AttachOptions DEFAULTS = new AttachOptionsData(OptionalInt.empty(), _ -> 0, false);

    @Override
    public AttachOptions withPid(int only) {
        if (only <= 0) {
            throw new IllegalArgumentException("pid " + only + " is not positive");
        }
        return new AttachOptionsData(OptionalInt.of(only), cookies, strict);
    }

    @Override
    public AttachOptions withCookies(ToLongFunction<UsdtProbe> ofProbes) {
        return new AttachOptionsData(pid, ofProbes, strict);
    }

    @Override
    public AttachOptions withStrict(boolean refuse) {
        return new AttachOptionsData(pid, cookies, refuse);
    }
}
