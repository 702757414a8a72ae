/**
 * BPF instructions: decoding, encoding, disassembling, and assembling small programs.
 *
 * {@snippet lang = "java":
 * List<Instruction> program = Assembler.create()
 *         .call("bpf_get_current_pid_tgid")
 *         .alu(Opcodes.RSH, Assembler.R0, 32)
 *         .exit()
 *         .assemble();
 * Instructions.disassemble(program).forEach(System.out::println);
 * byte[] bytes = Instructions.encode(program, ByteOrder.LITTLE_ENDIAN);
 * System.out.println(bytes.length + " bytes");
 * }
 *
 * <p>Pure: nothing here depends on the running machine. The kernel documents the instruction set in {@code
 * Documentation/bpf/standardization/instruction-set.rst} (RFC 9669).
 */
@NullMarked
package io.bpf4j.insn;

import org.jspecify.annotations.NullMarked;
