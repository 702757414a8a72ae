package io.bpf4j.elf;

/**
 * What {@code .gnu_debuglink} says about the file that holds the debug information: its name, ended by NUL, padding to
 * a multiple of 4 bytes, and a checksum of 32 bits. <i>Immutable.</i>
 *
 * @param fileName its name, without a directory
 * @param crc32 checksum over that whole file, as {@link java.util.zip.CRC32} counts it; unsigned 32 bits
 */
public record DebugLink(FileName fileName, long crc32) {
    static DebugLink read(ByteView data, ElfLimits limits) {
        FileName name = FileName.in(data, 0, limits.maxNameBytes());
        if (!name.isPlain()) {
            // It is looked up in trusted directories: it must not lead out of them.
            throw data.malformed(0, "debug link \"" + name + "\" is no plain file name");
        }
        return new DebugLink(name, data.u32((name.length() + 4L) & -4L));
    }
}
