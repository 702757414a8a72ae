package io.bpf4j.cli.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says what a process would need before the kernel lets it load and attach BPF programs.
 *
 * <p>The kernel's answer to whoever may not is a bare EPERM or EACCES. What it looked at before: {@code CAP_BPF} for
 * maps and programs, {@code CAP_PERFMON} for tracing programs and for perf events (both since Linux 5.8, before that
 * {@code CAP_SYS_ADMIN} alone), {@code CAP_SYS_ADMIN} in its stead; and two sysctls that widen or narrow it for
 * everybody. (capabilities(7); Documentation/admin-guide/sysctl/kernel.rst)
 *
 * @param effective the effective capability set, as {@code CapEff} of {@code /proc/self/status}
 * @param unprivilegedBpfDisabled {@code kernel.unprivileged_bpf_disabled}, or empty where there is none
 * @param perfEventParanoid {@code kernel.perf_event_paranoid}, or empty where there is none
 */
public record Privileges(long effective, String unprivilegedBpfDisabled, String perfEventParanoid) {
    private static final int CAP_SYS_ADMIN = 21;
    private static final int CAP_PERFMON = 38;
    private static final int CAP_BPF = 39;

    /** Those of this process. */
    public static Privileges current() {
        return new Privileges(
                parseEffective(read("/proc/self/status")),
                read("/proc/sys/kernel/unprivileged_bpf_disabled").strip(),
                read("/proc/sys/kernel/perf_event_paranoid").strip());
    }

    /** What is missing and what to do about it, as the end of a sentence; empty if nothing known is missing. */
    public Optional<String> missing() {
        if (has(CAP_SYS_ADMIN)) {
            return Optional.empty();
        }
        List<String> names = new ArrayList<>();
        if (!has(CAP_BPF)) {
            names.add("CAP_BPF");
        }
        if (!has(CAP_PERFMON)) {
            names.add("CAP_PERFMON");
        }
        if (names.isEmpty()) {
            return Optional.empty();
        }
        StringBuilder text = new StringBuilder("this process lacks ")
                .append(String.join(" and ", names))
                .append(sysctls());
        return Optional.of(
                text.append("; run it as root or give it these capabilities").toString());
    }

    private String sysctls() {
        List<String> settings = new ArrayList<>();
        if (!unprivilegedBpfDisabled.isEmpty()) {
            settings.add("kernel.unprivileged_bpf_disabled=" + unprivilegedBpfDisabled);
        }
        if (!perfEventParanoid.isEmpty()) {
            settings.add("kernel.perf_event_paranoid=" + perfEventParanoid);
        }
        return settings.isEmpty() ? "" : " (" + String.join(", ", settings) + ")";
    }

    private boolean has(int capability) {
        return (effective >>> capability & 1) != 0;
    }

    /** Reads {@code CapEff:\t000001ffffffffff}; a status without it counts as every capability, so nothing is claimed. */
    static long parseEffective(String status) {
        for (String line : status.lines().toList()) {
            if (line.startsWith("CapEff:")) {
                try {
                    return Long.parseUnsignedLong(
                            line.substring("CapEff:".length()).strip(), 16);
                } catch (NumberFormatException e) {
                    return -1;
                }
            }
        }
        return -1;
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            return "";
        }
    }
}
