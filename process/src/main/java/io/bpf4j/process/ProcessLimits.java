package io.bpf4j.process;

import io.bpf4j.elf.ElfLimits;

/**
 * Limits for reading processes of other users. A process that exceeds them is named and left out, and the others are
 * shown. Real processes stay far below: a browser has about 300 files mapped as code.
 */
public final class ProcessLimits {
    /**
     * Bytes of {@code /proc/PID/maps}: room for 262,144 mappings of 200 bytes each. Databases raise {@code
     * vm.max_map_count} to this number.
     */
    static final long MAX_MAPS_BYTES = 1L << 26;

    /** Bytes of a name: PATH_MAX of linux/limits.h. A longer name can't be opened, and is truncated for display. */
    static final int MAX_NAME_BYTES = 4096;

    /** Files that one process has mapped as code. */
    static final int MAX_FILES = 4096;

    /** Bytes of their names together. */
    static final long MAX_ALL_NAMES_BYTES = 1L << 20;

    /** Open files of a process that are searched for a mapped file. */
    static final int MAX_DESCRIPTORS = 4096;

    /** Bytes of a list of mounts, of which there are at most 100,000 (sysctl fs.mount-max). */
    static final long MAX_MOUNTS_BYTES = 1L << 26;

    /**
     * Approximate limit for the memory of the probes of all files of a machine, in bytes: the probes of 100 JVMs take
     * 20 MB.
     */
    public static final long MAX_SCANS_BYTES = 1L << 26;

    /**
     * Limits for reading a mapped file, in addition to its size. A linked program has about 40 sections; object files
     * with a section for each function are not mapped.
     */
    public static final ElfLimits MAPPED_FILE = new ElfLimits(1 << 16, 1 << 16, 1 << 22, 1L << 24);

    private ProcessLimits() {}
}
