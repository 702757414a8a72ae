package io.bpf4j.loader.internal.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The kernel's compiler of BPF. Without it programs are interpreted, which some instructions and functions can't be.
 *
 * <p>Known by the sysctls of net/core/sysctl_net_core.c: {@code bpf_jit_enable} is there if the kernel is built with
 * CONFIG_BPF_JIT, and its value is whether it is used. Only root may read the value, and only the first network namespace
 * has the file; {@code netdev_max_backlog} beside it tells whether this is that one.
 */
public enum Jit {
    /** There, and in use. */
    ON,
    /** There, and switched off. */
    OFF,
    /** Not in this kernel. */
    MISSING,
    /** Not for this process to know. */
    UNKNOWN;

    /**
     * Reads it.
     *
     * @param sysctls {@code /proc/sys/net/core}
     */
    public static Jit read(Path sysctls) {
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
