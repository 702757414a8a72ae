/**
 * From parsed arguments to the bytes that libbpf's {@code usdt.bpf.h} interprets in the kernel, and their spec IDs.
 * Makes no system call: the caller passes a function that stores a spec in the map.
 */
package io.bpf4j.usdt.internal.spec;
