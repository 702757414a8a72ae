package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The rights of this process, as far as they explain a refusal. <i>Immutable.</i>
 *
 * <p>The kernel returns EPERM or EACCES without a reason. Three reasons are possible, each with a different remedy. The
 * process lacks a capability. Or it has the capability only in its own user namespace, while bpf(2) and
 * perf_event_open(2) check the initial one (user_namespaces(7); kernel/capability.c, capable()). Or it has the
 * capability in the initial namespace, and a policy refuses: lockdown, a security module, a seccomp filter.
 *
 * @param effective the effective capabilities, one bit each ({@code CapEff} of /proc/self/status); {@link #UNKNOWN} if
 *     that can't be read
 * @param inFirstUserNamespace whether its user namespace is the initial one
 * @param filtered whether it has a seccomp filter
 * @param lastCapability the number of the kernel's newest capability; -1 if unknown
 * @param unprivilegedBpfDisabled the sysctl of that name: 0 allowed, 1 off permanently, 2 off; -1 if unknown
 * @param perfEventParanoid the sysctl of that name; -2 if unknown
 * @param openFiles the soft limit of open files; -1 if unknown
 */
public record ProcessRights(
        long effective,
        boolean inFirstUserNamespace,
        boolean filtered,
        int lastCapability,
        int unprivilegedBpfDisabled,
        int perfEventParanoid,
        long openFiles) {

    /** The value of {@link #effective} if unknown: no kernel has 64 capabilities. */
    public static final long UNKNOWN = -1;

    /** The inode of the initial user namespace (PROC_USER_INIT_INO in include/linux/proc_ns.h). */
    private static final String INITIAL_USER_NAMESPACE = "user:[4026531837]";

    private static final String HOW_TO_GRANT =
            " (setpriv --ambient-caps, AmbientCapabilities= of systemd, --cap-add of containers)";

    /** The current rights of this process. */
    public static ProcessRights of(Host host) {
        return read(host.root().resolve("proc"));
    }

    /** Reads the files below a directory, {@code /proc} or a fixture. Values that can't be read are unknown. */
    static ProcessRights read(Path proc) {
        StatusFile status = StatusFile.readIfRunning(proc.resolve("self"));
        return new ProcessRights(
                number(status.field("CapEff"), 16, UNKNOWN),
                isInitial(proc.resolve("self/ns/user")),
                status.field("Seccomp").equals("2"),
                (int) number(line(proc.resolve("sys/kernel/cap_last_cap"), ""), 10, -1),
                (int) number(line(proc.resolve("sys/kernel/unprivileged_bpf_disabled"), ""), 10, -1),
                (int) number(line(proc.resolve("sys/kernel/perf_event_paranoid"), ""), 10, -2),
                number(line(proc.resolve("self/limits"), "Max open files"), 10, -1));
    }

    /**
     * The capabilities that the process lacks; on a kernel older than a capability, the one that this kernel checks
     * instead. Empty if the process has all, or if its capabilities are unknown. Ignores the user namespace.
     */
    public List<Capability> lacking(List<Capability> needed) {
        return effective == UNKNOWN
                ? List.of()
                : needed.stream()
                        .map(this::ofThisKernel)
                        .distinct()
                        .filter(capability -> !has(capability))
                        .toList();
    }

    /** Whether the process has the capability, or one that includes it. */
    public boolean has(Capability capability) {
        return isSet(capability) || (capability.isOfSysAdmin() && isSet(Capability.CAP_SYS_ADMIN));
    }

    /** Why the kernel refuses an operation that needs these capabilities, and what to do: the end of a sentence. */
    public String whyRefused(List<Capability> needed) {
        if (effective == UNKNOWN) {
            return "it requires " + names(needed) + ", and /proc does not show whether this process has it";
        }
        List<Capability> lacking = lacking(needed);
        if (!inFirstUserNamespace) {
            return "it requires " + names(needed) + " in the initial user namespace, but this process is in another one"
                    + " (unshare -U, a rootless container): run it outside, as root";
        }
        if (!lacking.isEmpty()) {
            return "this process lacks " + names(lacking) + "; run it as root, or give it "
                    + (lacking.size() == 1 ? "this capability" : "these capabilities") + HOW_TO_GRANT;
        }
        return "this process has " + names(needed) + ", so a policy of the kernel refuses the call (lockdown, "
                + (filtered ? "a security module, or the seccomp filter of this process)" : "or a security module)");
    }

    /** {@code CAP_BPF and CAP_PERFMON}. */
    public static String names(List<Capability> capabilities) {
        return capabilities.stream().map(Capability::name).collect(Collectors.joining(" and "));
    }

    private boolean isSet(Capability capability) {
        return (effective >>> capability.number() & 1) != 0;
    }

    private Capability ofThisKernel(Capability capability) {
        boolean known = lastCapability < 0 || capability.number() <= lastCapability;
        return known ? capability : Capability.CAP_SYS_ADMIN;
    }

    /**
     * The rest of the line that starts with a word; empty if no line does.
     *
     * <p>Reads by lines: a sysctl returns its whole value to the first read, and Files.readString reads one byte first.
     */
    private static String line(Path file, String word) {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(word))
                    .map(line -> line.substring(word.length()).strip())
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    /** If /proc can't be read, the initial namespace is assumed. */
    private static boolean isInitial(Path namespace) {
        try {
            return Files.readSymbolicLink(namespace).toString().equals(INITIAL_USER_NAMESPACE);
        } catch (IOException e) {
            return true;
        }
    }

    /** The first number of a text; the default if there is none, as in "unlimited". */
    private static long number(String text, int radix, long defaultValue) {
        try {
            return Long.parseLong(text.split(" +", 2)[0], radix);
        } catch (NumberFormatException e) {
            return defaultValue;
        }
    }
}
