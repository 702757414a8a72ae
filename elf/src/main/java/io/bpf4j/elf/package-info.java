/**
 * A reader of ELF files that checks every offset; malformed input causes one exception type.
 *
 * {@snippet lang = "java":
 * try (ElfFile file = ElfFile.open(Path.of("/proc/self/exe"))) {
 *     System.out.println(file.header().machineName() + ", build ID " + file.buildId().orElse("none"));
 *     for (Section section : file.sections()) {
 *         System.out.println(section.name() + ": " + section.size() + " bytes");
 *     }
 * } catch (MalformedDataException e) {
 *     System.err.println(e.getMessage()); // the file, the offset in it, and what is wrong there
 * }
 * }
 *
 * <p>{@link io.bpf4j.elf.ElfFile} is the entry point: it opens a file, reads its headers and returns records for the
 * declarations of the file and {@link io.bpf4j.elf.ByteView}s for the bytes. Names are those of the format, so that
 * {@code SHT_NOTE} can be looked up in {@code man 5 elf} or the System V gABI, the source of all layouts. 32-bit fields
 * are widened as they are read; sizes and offsets are in bytes and {@code long} throughout.
 *
 * <p>The contract for malicious input: for any bytes a method returns, or throws {@link
 * io.bpf4j.elf.MalformedDataException} with the source and the place in it. The size of the file and {@link
 * io.bpf4j.elf.ElfLimits} limit its time and memory.
 */
package io.bpf4j.elf;
