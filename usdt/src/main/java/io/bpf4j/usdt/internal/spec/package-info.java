/**
 * From parsed arguments to the bytes that libbpf's {@code usdt.bpf.h} interprets in the kernel, and their spec IDs.
 * Pure: maps are reached through {@link io.bpf4j.usdt.internal.spec.SpecStore}.
 */
package io.bpf4j.usdt.internal.spec;
