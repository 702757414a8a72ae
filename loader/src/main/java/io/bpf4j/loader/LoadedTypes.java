package io.bpf4j.loader;

/**
 * BTF that is loaded in the kernel. <i>Immutable.</i>
 *
 * @param id the kernel's id, by which {@link Types#byId} reads the types
 * @param name {@code vmlinux} or a module's name; empty for BTF that a process loaded, and before Linux 5.11
 * @param ofKernel whether it describes the kernel or a module
 * @param size in bytes
 */
public record LoadedTypes(int id, String name, boolean ofKernel, long size) {}
