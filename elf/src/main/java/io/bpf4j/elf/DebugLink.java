package io.bpf4j.elf;

/**
 * What {@code .gnu_debuglink} says about the file that holds the debug information: its name, ended by NUL, padding to
 * a multiple of 4 bytes, and a checksum of 32 bits. <i>Immutable.</i>
 *
 * @param fileName its name, without a directory
 * @param crc32 checksum over that whole file, as {@link java.util.zip.CRC32} counts it; unsigned 32 bits
 */
public record DebugLink(String fileName, long crc32) {
    static DebugLink read(ByteView data, ElfLimits limits) {
        int length = data.cStringLength(0, limits.maxNameBytes());
        String name = data.cString(0);
        if (name.isEmpty() || name.indexOf('/') >= 0) {
            // It is looked up in trusted directories: it must not lead out of them.
            throw data.malformed(0, "debug link \"" + name + "\" is no plain file name");
        }
        return new DebugLink(name, data.u32((length + 4L) & -4L));
    }
}
