package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.FileName;

/**
 * The contents of {@code .gnu_debuglink}, which names the file with the debug information: the name, ended by NUL,
 * padding to a multiple of 4 bytes, and a checksum of 32 bits. <i>Immutable.</i>
 *
 * @param fileName its name, without a directory
 * @param crc32 checksum over the whole file, as {@link java.util.zip.CRC32} computes it; unsigned 32 bits
 */
record DebugLink(FileName fileName, long crc32) {
    static DebugLink read(ByteView data, ElfLimits limits) {
        FileName name = FileName.of(data.cStringBytes(0, limits.maxNameBytes()));
        if (!name.isPlain()) {
            // The name is looked up in trusted directories and must not lead out of them.
            throw data.malformed(0, "debug link \"" + name + "\" is not a plain file name");
        }
        return new DebugLink(name, data.u32((name.length() + 4L) & -4L));
    }
}
