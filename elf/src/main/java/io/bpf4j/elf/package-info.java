/**
 * ELF files, read by hand: every offset is checked, and malformed input gives one exception type.
 *
 * <p>{@link io.bpf4j.elf.ElfFile} is the door: it opens a file, reads its headers and hands out records for what the
 * file declares and {@link io.bpf4j.elf.ByteView}s for the bytes. Names are those of the format, so that
 * {@code SHT_NOTE} can be looked up in {@code man 5 elf} or the System V gABI, where all layouts here come from.
 * 32-bit fields are widened as they are read; sizes and offsets are in bytes and {@code long} throughout.
 *
 * <p>The contract for hostile input: whatever the bytes are, a method returns, or throws
 * {@link io.bpf4j.elf.MalformedDataException} with the source and the place in it, in time and memory that the size of
 * the file and {@link io.bpf4j.elf.ElfLimits} bound.
 */
package io.bpf4j.elf;
