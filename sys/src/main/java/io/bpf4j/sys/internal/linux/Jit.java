package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel's JIT compiler for BPF. Without it programs are interpreted, but the interpreter does not support some
 * instructions and functions.
 *
 * <p>Detected by the sysctls of net/core/sysctl_net_core.c: {@code bpf_jit_enable} exists if the kernel is built with
 * CONFIG_BPF_JIT, and its value shows whether the JIT is enabled. Only root may read the value, and only the initial
 * network namespace has the file; {@code netdev_max_backlog} next to it exists only there, too.
 */
public enum Jit {
    /** Built in and enabled. */
    ON,
    /** Built in and disabled. */
    OFF,
    /** Not built into this kernel. */
    MISSING,
    /** Unknown, because this process may not read it. */
    UNKNOWN;

    /** The present state on a machine. */
    public static Jit of(Host host) {
        return read(host.proc().resolve("sys/net/core"));
    }

    /**
     * Reads the state.
     *
     * @param sysctls {@code /proc/sys/net/core}
     */
    static Jit read(Path sysctls) {
        Path enabled = sysctls.resolve("bpf_jit_enable");
        if (!Files.exists(enabled)) {
            return Files.exists(sysctls.resolve("netdev_max_backlog")) ? MISSING : UNKNOWN;
        }
        try {
            return Files.readString(enabled).strip().equals("0") ? OFF : ON;
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
