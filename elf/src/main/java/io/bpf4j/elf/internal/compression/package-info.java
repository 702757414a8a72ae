/**
 * Compressed files and archives, read by libraries that may be missing. Most ELF files and BTF need none of them, so an
 * embedder can leave the libraries out; the error says then which one a file needs.
 */
package io.bpf4j.elf.internal.compression;
