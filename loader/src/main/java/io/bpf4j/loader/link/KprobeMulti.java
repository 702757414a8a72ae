package io.bpf4j.loader.link;

import java.util.Arrays;
import java.util.List;

/**
 * Many functions of the kernel, through one link; {@code SEC("kprobe.multi")} (TRACE_KPROBE_MULTI, Linux 5.18) or,
 * for entry and return in one program, {@code SEC("kprobe.session")} (TRACE_KPROBE_SESSION, Linux 6.10). A name may
 * have {@code *} for any characters and {@code ?} for one: it then means all matching functions that can be traced.
 * These are the ones that tracefs lists in {@code available_filter_functions}.
 */
public sealed interface KprobeMulti extends AttachTarget {
    /** The start of functions, by names or patterns. */
    static KprobeMulti entry(String... functions) {
        return new KprobeMultiData(List.of(functions), List.of(), List.of(), false, false);
    }

    /** The start of functions, by their addresses as in /proc/kallsyms, also where several have one name. */
    static KprobeMulti entry(long... addresses) {
        return KprobeMultiData.at(addresses, false);
    }

    /** The return of functions, by names or patterns. */
    static KprobeMulti exit(String... functions) {
        return new KprobeMultiData(List.of(functions), List.of(), List.of(), true, false);
    }

    /** The return of functions, by their addresses, as {@link #entry(long...)}. */
    static KprobeMulti exit(long... addresses) {
        return KprobeMultiData.at(addresses, true);
    }

    /** Empty if there are addresses. */
    List<String> functions();

    /** Empty if there are functions by name. */
    List<Long> addresses();

    /** One for each function or address, in their order; empty for none. */
    List<Long> cookies();

    /** Whether to fire when the functions return. */
    boolean returns();

    /** Whether each name or pattern must stand for one function: {@link #withUniqueMatch}. */
    boolean isUnique();

    /**
     * Sets a cookie for each function or address, in their order; for patterns only {@link #withUniqueMatch}.
     */
    default KprobeMulti withCookies(long... cookies) {
        int count = functions().size() + addresses().size();
        return new KprobeMultiData(
                functions(), addresses(), TargetArguments.cookies(count, cookies), returns(), isUnique());
    }

    /**
     * Requires each name or pattern to stand for exactly one function that can be traced. Otherwise attaching fails,
     * and the message names the functions that match. So {@code blk_account_io_done*} also finds that function where
     * the compiler has renamed it to {@code blk_account_io_done.isra.0}. A name that several static functions share is
     * refused, too; without this the kernel would take one of them. Without effect on addresses. Needs tracefs, for
     * names, too.
     */
    default KprobeMulti withUniqueMatch() {
        return new KprobeMultiData(functions(), addresses(), cookies(), returns(), true);
    }
}

record KprobeMultiData(
        List<String> functions, List<Long> addresses, List<Long> cookies, boolean returns, boolean isUnique)
        implements KprobeMulti {
    static KprobeMulti at(long[] addresses, boolean returns) {
        List<Long> all = Arrays.stream(addresses)
                .map(TargetArguments::requireAddress)
                .boxed()
                .toList();
        return new KprobeMultiData(List.of(), all, List.of(), returns, false);
    }

    @Override
    public String description() {
        return TargetArguments.returnPrefix(returns)
                + (addresses.isEmpty()
                        ? TargetArguments.kernelFunctions(functions)
                        : "kernel functions at " + addresses.size() + " addresses from 0x"
                                + Long.toHexString(addresses.getFirst()));
    }
}
