/** From the notes that {@code sys/sdt.h} leaves in an ELF file to the sites of its probes. Reads ELF, knows no kernel. */
package io.bpf4j.usdt.internal.note;
