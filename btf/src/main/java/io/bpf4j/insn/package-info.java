/**
 * BPF instructions: decoding, encoding, disassembling, and assembling small programs.
 *
 * <p>Pure: nothing here depends on the running machine. The kernel documents the instruction set in {@code
 * Documentation/bpf/standardization/instruction-set.rst} (RFC 9669).
 */
@NullMarked
package io.bpf4j.insn;

import org.jspecify.annotations.NullMarked;
