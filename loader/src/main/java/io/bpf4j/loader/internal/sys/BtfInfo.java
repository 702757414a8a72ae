package io.bpf4j.loader.internal.sys;

/**
 * The kernel's information about loaded BTF ({@code struct bpf_btf_info}), with the types. <i>Immutable</i> as long as
 * the array is not modified.
 *
 * @param id the kernel's id of the BTF
 * @param name {@code vmlinux} or a module's name; empty for BTF that a process loaded
 * @param ofKernel whether it describes the kernel or a module
 * @param data the BTF itself
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record BtfInfo(int id, String name, boolean ofKernel, byte[] data) {}
