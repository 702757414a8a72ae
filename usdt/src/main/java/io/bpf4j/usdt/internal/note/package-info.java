/**
 * From the notes that {@code sys/sdt.h} leaves in an ELF file to the sites of its probes. Reads ELF only, makes no use
 * of the kernel.
 */
package io.bpf4j.usdt.internal.note;
