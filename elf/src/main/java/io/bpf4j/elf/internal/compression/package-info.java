/**
 * Compressed files and archives, read by libraries that may be missing. Most ELF files and BTF need none of the
 * libraries, so an embedder can leave them out. If a file needs them, the error says so.
 */
package io.bpf4j.elf.internal.compression;
