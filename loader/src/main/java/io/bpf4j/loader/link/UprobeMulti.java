package io.bpf4j.loader.link;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * Many functions or instructions of a program or library, through one link; {@code SEC("uprobe.multi")}
 * (TRACE_UPROBE_MULTI, Linux 6.6) or, for entry and return in one program, {@code SEC("uprobe.session")}
 * (TRACE_UPROBE_SESSION, Linux 6.13).
 *
 * <p>A name of a function is looked up as for {@link Uprobe}, and may have {@code *} for any characters and {@code
 * ?} for one. It stands for all functions that match, except indirect ones (IFUNC); functions at the same address
 * count as one. With cookies or semaphores, each name must match exactly one function. If a function can't be
 * probed, the kernel refuses all of them with EINVAL.
 */
public sealed interface UprobeMulti extends AttachTarget {
    /** The start of functions, by names or patterns, in every process; {@code file} as for {@link Uprobe#entry}. */
    static UprobeMulti entry(Path file, String... functions) {
        return UprobeMultiData.of(TargetFile.of(file), List.of(functions), UprobeMultiData.NONE, false);
    }

    /** The return of functions; {@code file} as for {@link Uprobe#entry}. */
    static UprobeMulti exit(Path file, String... functions) {
        return UprobeMultiData.of(TargetFile.of(file), List.of(functions), UprobeMultiData.NONE, true);
    }

    /** Instructions, by their offsets in the file in bytes. */
    static UprobeMulti at(TargetFile file, long... offsets) {
        return UprobeMultiData.of(file, List.of(), offsets.clone(), false);
    }

    /** The return of functions, by the offsets in the file where they start, in bytes. */
    static UprobeMulti exitAt(TargetFile file, long... offsets) {
        return UprobeMultiData.of(file, List.of(), offsets.clone(), true);
    }

    TargetFile file();

    /** Names or patterns; empty if the target is given by offsets. */
    List<String> functions();

    /** A copy of the offsets; empty if the target is given by functions. */
    long[] offsets();

    /** Whether to fire when the functions return. */
    boolean returns();

    /** A copy of the semaphores' file offsets in bytes; empty if there are none. */
    long[] semaphores();

    /** A copy of the cookies; empty if there are none. */
    long[] cookies();

    /** The process; empty for all. */
    OptionalInt pid();

    /**
     * With a semaphore for each function or instruction, in their order.
     *
     * @param fileOffsets in bytes; 0 for none
     */
    default UprobeMulti withSemaphores(long... fileOffsets) {
        long[] any = Arrays.stream(fileOffsets).anyMatch(s -> s != 0) ? fileOffsets.clone() : UprobeMultiData.NONE;
        return new UprobeMultiData(file(), functions(), offsets(), returns(), any, cookies(), pid());
    }

    /** With a cookie for each function or instruction, in their order. */
    default UprobeMulti withCookies(long... cookies) {
        return new UprobeMultiData(file(), functions(), offsets(), returns(), semaphores(), cookies.clone(), pid());
    }

    /** In one process only. */
    default UprobeMulti inProcess(int pid) {
        return new UprobeMultiData(
                file(), functions(), offsets(), returns(), semaphores(), cookies(), OptionalInt.of(pid));
    }
}

/** Arrays, because there may be a million sites. The caller passes its own copies. */
@SuppressWarnings("ArrayRecordComponent") // targets with sites are not compared
record UprobeMultiData(
        TargetFile file,
        List<String> functions,
        long[] offsets,
        boolean returns,
        long[] semaphores,
        long[] cookies,
        OptionalInt pid)
        implements UprobeMulti {
    static final long[] NONE = {};

    UprobeMultiData {
        TargetArguments.requireOneForEach(count(functions, offsets), semaphores, "semaphores");
        TargetArguments.requireOneForEach(count(functions, offsets), cookies, "cookies");
        TargetArguments.requirePid(pid);
    }

    private static int count(List<String> functions, long[] offsets) {
        return functions.isEmpty() ? offsets.length : functions.size();
    }

    static UprobeMultiData of(TargetFile file, List<String> functions, long[] offsets, boolean returns) {
        return new UprobeMultiData(file, functions, offsets, returns, NONE, NONE, OptionalInt.empty());
    }

    @Override
    public long[] offsets() {
        return offsets.length == 0 ? NONE : offsets.clone();
    }

    @Override
    public long[] semaphores() {
        return semaphores.length == 0 ? NONE : semaphores.clone();
    }

    @Override
    public long[] cookies() {
        return cookies.length == 0 ? NONE : cookies.clone();
    }

    @Override
    public String description() {
        String subject = switch (functions.size()) {
            case 0 -> offsets.length + (returns ? " uretprobes" : " uprobes");
            case 1 -> TargetArguments.returnPrefix(returns) + functions.getFirst();
            default -> TargetArguments.returnPrefix(returns) + functions.size() + " functions";
        };
        return subject + " in " + file;
    }
}
