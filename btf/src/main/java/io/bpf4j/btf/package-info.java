/**
 * BTF, the type information of BPF objects and of the kernel: read it, look things up in it, write it.
 *
 * <p>The format is the kernel's, described in {@code Documentation/bpf/btf.rst} and {@code include/uapi/linux/btf.h}.
 * Malformed bytes give {@link io.bpf4j.elf.MalformedDataException} and nothing else. Pure: where the bytes come from and
 * go to is the caller's affair.
 */
@NullMarked
package io.bpf4j.btf;

import org.jspecify.annotations.NullMarked;
