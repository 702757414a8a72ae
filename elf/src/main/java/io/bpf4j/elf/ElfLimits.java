package io.bpf4j.elf;

/**
 * Limits for the memory that reading a file may need, in addition to the limits from the file's size. <i>Immutable.</i>
 *
 * <p>Time and memory are otherwise bounded by the size of the file: a count is accepted only if the file has room for
 * that many entries.
 *
 * @param maxNameBytes longest name of a section or symbol; names of C++ and Rust reach about 100,000 bytes
 * @param maxSections maximum number of sections, also of segments and of notes; an object file may have a section per
 *     function
 * @param maxSymbols maximum number of symbols of a table; the largest browsers have about 3 million. A sparse file may
 *     declare any number
 * @param maxDecompressedBytes maximum decompressed size of one section in bytes, at most 2 GiB - 9. Decompression
 *     temporarily needs half as much in addition. All sections of a file together may use 4 times as much, counting
 *     compressed and decompressed bytes
 */
public record ElfLimits(int maxNameBytes, int maxSections, int maxSymbols, long maxDecompressedBytes) {
    private static final ElfLimits DEFAULTS = new ElfLimits(1 << 20, 1 << 21, 1 << 25, 1L << 28);

    public ElfLimits {
        if (maxNameBytes < 1 || maxSections < 1 || maxSymbols < 1 || maxDecompressedBytes < 0) {
            throw new IllegalArgumentException(
                    "limits must be positive: " + maxNameBytes + " bytes of name, " + maxSections + " sections, "
                            + maxSymbols + " symbols, " + maxDecompressedBytes + " decompressed bytes");
        }
    }

    /** Names up to 1 MiB, 2,097,152 sections, 33,554,432 symbols, 256 MiB decompressed. */
    public static ElfLimits defaults() {
        return DEFAULTS;
    }
}
