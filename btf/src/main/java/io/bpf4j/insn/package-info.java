/**
 * BPF instructions: decode, encode, disassemble, and assemble small programs.
 *
 * <p>Pure: nothing here looks at the running machine. The instruction set is the one that the kernel documents in {@code
 * Documentation/bpf/standardization/instruction-set.rst} (RFC 9669).
 */
@NullMarked
package io.bpf4j.insn;

import org.jspecify.annotations.NullMarked;
