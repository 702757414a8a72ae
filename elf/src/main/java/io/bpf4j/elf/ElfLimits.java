package io.bpf4j.elf;

/**
 * How much memory a file may make its reader use, beyond what its own size justifies. <i>Immutable.</i>
 *
 * <p>Time and memory are otherwise bounded by the size of the file: a count is believed only if the file has room for
 * that many entries.
 *
 * @param maxNameBytes longest name of a section or symbol; C++ and Rust reach some 100,000 bytes
 * @param maxSections most sections that are made into objects, and most segments, and most notes; an object file may have
 *     a section per function
 * @param maxSymbols most symbols of a table that is read; the largest browsers have some 3 million. A file that is mostly
 *     holes may claim any number
 * @param maxDecompressedBytes most bytes that one compressed section may have when decompressed, at most 2 GiB - 9. While
 *     it is decompressed, it takes half as much again
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
