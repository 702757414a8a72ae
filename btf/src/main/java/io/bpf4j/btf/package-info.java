/**
 * BTF, the type information of BPF objects and of the kernel: reading, looking up types, writing.
 *
 * <p>The format is the kernel's, described in {@code Documentation/bpf/btf.rst} and {@code include/uapi/linux/btf.h}.
 * For malformed bytes every method throws {@link io.bpf4j.elf.MalformedDataException} and no other exception. Pure:
 * except for files ({@code BtfFile}), the caller reads and writes the bytes.
 */
@NullMarked
package io.bpf4j.btf;

import org.jspecify.annotations.NullMarked;
