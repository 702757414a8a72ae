package io.bpf4j.loader.link;

import java.util.List;

/**
 * Many functions of the kernel, or of one of its modules, through one link; {@code SEC("fentry.multi")}, {@code
 * "fexit.multi"}, {@code "fsession.multi"} (Linux 7.2). A name may have {@code *} for any characters and {@code ?}
 * for one: it then means all matching functions whose argument types the trampoline can pass and, if tracefs can be
 * read, that {@code available_filter_functions} lists.
 *
 * <p>For functions of a module the program must be loaded for the module, by its section name: {@code
 * SEC("fentry.multi/MODULE:PATTERN")}. All names must then have the form {@code MODULE:NAME}.
 */
public sealed interface TracingMulti extends AttachTarget {
    /** Functions, by names or patterns. */
    static TracingMulti of(String... functions) {
        return new TracingMultiData(List.of(functions), List.of());
    }

    List<String> functions();

    /** One for each function, in their order; empty for none. */
    List<Long> cookies();

    /** With a cookie for each function, in their order; not for patterns. */
    default TracingMulti withCookies(long... cookies) {
        return new TracingMultiData(
                functions(), TargetArguments.cookies(functions().size(), cookies));
    }
}

record TracingMultiData(List<String> functions, List<Long> cookies) implements TracingMulti {
    @Override
    public String description() {
        return TargetArguments.kernelFunctions(functions);
    }
}
