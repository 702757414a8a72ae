package io.bpf4j.loader.link;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/**
 * The common arguments of several targets: their checks, and their text in a description.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
final class TargetArguments {
    private TargetArguments() {}

    static void requirePid(OptionalInt pid) {
        requirePositive(pid, "pid", "process");
    }

    static void requireTid(OptionalInt tid) {
        requirePositive(tid, "tid", "thread");
    }

    private static void requirePositive(OptionalInt id, String kind, String owner) {
        if (id.isPresent() && id.getAsInt() <= 0) {
            throw new IllegalArgumentException(kind + " " + id.getAsInt() + " is not the " + kind + " of a " + owner);
        }
    }

    static long requireAddress(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("address 0: /proc/kallsyms shows zeros to a process without"
                    + " CAP_SYSLOG, and to every process if sysctl kernel.kptr_restrict is 2");
        }
        return address;
    }

    static void requireOneForEach(int count, long[] values, String name) {
        if (values.length != 0 && values.length != count) {
            throw new IllegalArgumentException(
                    count + " functions or sites, but " + values.length + " " + name + ": there must be one for each");
        }
    }

    /** A cookie for each of {@code count} sites, in their order; empty for none. */
    static List<Long> cookies(int count, long[] values) {
        requireOneForEach(count, values, "cookies");
        return Arrays.stream(values).boxed().toList();
    }

    static String returnPrefix(boolean returns) {
        return returns ? "return of " : "";
    }

    static String kernelFunctions(List<String> functions) {
        return functions.size() == 1 ? functions.getFirst() : functions.size() + " functions of the kernel";
    }
}
