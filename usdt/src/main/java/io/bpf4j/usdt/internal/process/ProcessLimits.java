package io.bpf4j.usdt.internal.process;

import io.bpf4j.elf.ElfLimits;

/**
 * How much of other people's processes is looked at. A process that is more than this is named and left out, and the
 * others are shown. Honest ones stay far below: a browser has some 300 files mapped as code.
 */
public final class ProcessLimits {
    /**
     * Bytes of {@code /proc/PID/maps}: room for 262,144 mappings, which databases raise {@code vm.max_map_count} to, with
     * 200 bytes each.
     */
    static final long MAX_MAPS_BYTES = 1L << 26;

    /** Bytes of a name: PATH_MAX of linux/limits.h. A longer one can't be opened; what is shown of it is cut. */
    static final int MAX_NAME_BYTES = 4096;

    /** Files that one process has mapped as code. */
    static final int MAX_FILES = 4096;

    /** Bytes of their names together. */
    static final long MAX_ALL_NAMES_BYTES = 1L << 20;

    /** Open files of a process that are looked at for one that it has mapped. */
    static final int MAX_DESCRIPTORS = 4096;

    /** Bytes of a list of mounts, of which there are at most 100,000 (sysctl fs.mount-max). */
    static final long MAX_MOUNTS_BYTES = 1L << 26;

    /** About what the probes of all files of a machine may take, in bytes of memory: those of 100 JVMs take 20 MB. */
    public static final long MAX_SCANS_BYTES = 1L << 26;

    /**
     * What a mapped file may make its reader spend beyond its own size. A linked program has some 40 sections; objects
     * that have one for each function are not mapped.
     */
    public static final ElfLimits MAPPED_FILE = new ElfLimits(1 << 16, 1 << 16, 1 << 22, 1L << 24);

    private ProcessLimits() {}
}
