package io.bpf4j.usdt;

import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/**
 * How to attach. Defaults: all processes, cookie 0, unsupported arguments allowed. <b>Immutable</b>.
 *
 * @param pid the process to attach in, all its threads; empty for all processes that run the file, now or later. If it has
 *     not mapped a file, {@link UsdtLink#problems} says so
 * @param cookies the cookie of each probe: what {@code bpf_usdt_cookie()} returns in the program
 * @param strict whether to refuse a probe with an argument that can't be read, as libbpf does, rather than let {@code
 *     bpf_usdt_arg()} fail for that argument; and a probe of which a site has to be left out, rather than attach to the
 *     others
 */
public record Options(OptionalInt pid, ToLongFunction<UsdtProbe> cookies, boolean strict) {
    private static final Options DEFAULTS = new Options(OptionalInt.empty(), probe -> 0, false);

    public static Options defaults() {
        return DEFAULTS;
    }

    /** Only this process. The number is one of the caller's pid namespace. */
    public Options pid(int pid) {
        if (pid <= 0) {
            throw new IllegalArgumentException("pid " + pid + " is not positive");
        }
        return new Options(OptionalInt.of(pid), cookies, strict);
    }

    /** One cookie for all probes. */
    public Options cookie(long cookie) {
        return new Options(pid, probe -> cookie, strict);
    }

    /** A cookie for each probe, by which a program that serves many can tell which one fired. */
    public Options cookies(ToLongFunction<UsdtProbe> cookies) {
        return new Options(pid, cookies, strict);
    }

    /** Whether an argument that can't be read, or a site that has to be left out, makes the attach fail. */
    public Options strict(boolean strict) {
        return new Options(pid, cookies, strict);
    }
}
