package io.bpf4j.usdt.internal.note;

/**
 * Limits for reading a file's notes. Notes beyond them are reported and left out. Real files stay far below: the JVM
 * has about 570 sites, 140 argument strings of about 30 bytes, and 2 or 3 segments.
 *
 * <p>The size of the file is no limit: compressed sections expand, sections may share their bytes, and each note may
 * be looked up in each segment, so that a small file may cost as much as a large one. With these limits reading a file
 * of any size takes about 100 MB at most, and the other files of a machine are read, too.
 */
final class NoteLimits {
    /** Sites of a file; each takes some 50 bytes, twice that until all are read. One link can have 8 times as many. */
    static final int MAX_SITES = 1 << 17;

    /** Bytes of a provider and of a name. DTrace allows 63 and 127. */
    static final int MAX_NAME_BYTES = 4096;

    /** Bytes of an argument string: room for 12 arguments with mangled C++ symbols in them. */
    static final int MAX_ARGUMENT_BYTES = 1 << 16;

    /**
     * Characters of all distinct names and argument strings together: a parsed argument takes about 40 times the memory
     * of its text.
     */
    static final int MAX_TEXT = 1 << 20;

    /**
     * Bytes of all note sections together, decompressed: room for MAX_SITES notes of 512 bytes. They may not exceed the
     * file's size, either: several sections may contain the same bytes, and compressed sections expand.
     */
    static final long MAX_NOTE_BYTES = 1L << 26;

    /**
     * Loaded segments: the kernel reads 64 KiB of program headers (load_elf_phdrs in fs/binfmt_elf.c), 56 bytes each.
     */
    static final int MAX_SEGMENTS = (1 << 16) / 56;

    /** Problems that are listed; further ones are only counted. */
    static final int MAX_PROBLEMS = 100;

    /** Characters of a name within a problem. */
    static final int MAX_QUOTED = 80;

    private NoteLimits() {}
}
