package io.bpf4j.loader.internal.sys;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this process may do, as far as it explains a refusal. <i>Immutable.</i>
 *
 * @param capabilities the effective ones, a bit each ({@code CapEff} of /proc/self/status); 0 if unknown
 * @param unprivilegedBpfDisabled the sysctl of that name: 0 allowed, 1 off for good, 2 off; -1 if unknown
 * @param perfEventParanoid the sysctl of that name; -2 if unknown
 * @param openFiles the soft limit of open files; -1 if unknown
 */
record ProcessRights(long capabilities, int unprivilegedBpfDisabled, int perfEventParanoid, long openFiles) {
    /** include/uapi/linux/capability.h. */
    static final int CAP_NET_ADMIN = 12;

    static final int CAP_SYS_ADMIN = 21;
    static final int CAP_PERFMON = 38;
    static final int CAP_BPF = 39;

    private static final String LIMIT_LINE = "Max open files";

    /** Reads below the given directory, {@code /proc} or a fixture; whatever can't be read stays unknown. */
    static ProcessRights read(Path proc) {
        return new ProcessRights(
                capabilities(proc.resolve("self/status")),
                number(proc.resolve("sys/kernel/unprivileged_bpf_disabled"), -1),
                number(proc.resolve("sys/kernel/perf_event_paranoid"), -2),
                openFiles(proc.resolve("self/limits")));
    }

    boolean has(int capability) {
        return (capabilities >>> capability & 1) != 0;
    }

    private static long capabilities(Path status) {
        try {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("CapEff:")) {
                    return Long.parseUnsignedLong(
                            line.substring("CapEff:".length()).strip(), 16);
                }
            }
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
        return 0;
    }

    private static long openFiles(Path limits) {
        try {
            for (String line : Files.readAllLines(limits)) {
                if (line.startsWith(LIMIT_LINE)) {
                    return Long.parseLong(
                            line.substring(LIMIT_LINE.length()).strip().split(" +", 2)[0]);
                }
            }
        } catch (IOException | NumberFormatException e) {
            return -1; // "unlimited" comes here too
        }
        return -1;
    }

    private static int number(Path file, int otherwise) {
        try {
            return Integer.parseInt(Files.readString(file).strip());
        } catch (IOException | NumberFormatException e) {
            return otherwise;
        }
    }
}
