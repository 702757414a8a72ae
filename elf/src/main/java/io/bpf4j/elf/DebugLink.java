package io.bpf4j.elf;

/**
 * What {@code .gnu_debuglink} says about the file that holds the debug information. <i>Immutable.</i>
 *
 * @param fileName its name, without a directory
 * @param crc32 checksum over that whole file, as {@link java.util.zip.CRC32} counts it; unsigned 32 bits
 */
public record DebugLink(String fileName, long crc32) {}
