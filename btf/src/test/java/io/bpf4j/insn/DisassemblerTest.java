package io.bpf4j.insn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The expected lines are the formats of the kernel's {@code kernel/bpf/disasm.c}. */
class DisassemblerTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0xb7 | 1 | 0 | 0 | 5 | r1 = 5",
                "0xb4 | 1 | 0 | 0 | -5 | w1 = -5",
                "0xbf | 6 | 1 | 0 | 0 | r6 = r1",
                "0xbc | 6 | 1 | 0 | 0 | w6 = w1",
                "0xbf | 6 | 1 | 8 | 0 | r6 = (s8)r1",
                "0x07 | 2 | 0 | 0 | -8 | r2 += -8",
                "0x1f | 2 | 3 | 0 | 0 | r2 -= r3",
                "0xc7 | 2 | 0 | 0 | 32 | r2 s>>= 32",
                "0x77 | 2 | 0 | 0 | 32 | r2 >>= 32",
                "0x37 | 2 | 0 | 1 | 3 | r2 s/= 3",
                "0x9f | 2 | 3 | 1 | 0 | r2 s%= r3",
                "0x87 | 2 | 0 | 0 | 0 | r2 = -r2",
                "0xdc | 1 | 0 | 0 | 16 | r1 = be16 r1",
                "0xd4 | 1 | 0 | 0 | 64 | r1 = le64 r1",
                "0xd7 | 1 | 0 | 0 | 32 | r1 = bswap32 r1",
                "0x61 | 2 | 1 | 16 | 0 | r2 = *(u32 *)(r1 +16)",
                "0x81 | 2 | 1 | 16 | 0 | r2 = *(s32 *)(r1 +16)",
                "0x79 | 2 | 10 | -8 | 0 | r2 = *(u64 *)(r10 -8)",
                "0x7b | 10 | 2 | -8 | 0 | *(u64 *)(r10 -8) = r2",
                "0x72 | 10 | 0 | -8 | 7 | *(u8 *)(r10 -8) = 7",
                "0xdb | 1 | 2 | 0 | 0 | lock *(u64 *)(r1 +0) += r2",
                "0xdb | 1 | 2 | 0 | 1 | r2 = atomic64_fetch_add((u64 *)(r1 +0), r2)",
                "0xc3 | 1 | 2 | 4 | 0xe1 | r2 = atomic_xchg((u32 *)(r1 +4), r2)",
                "0xdb | 1 | 2 | 4 | 0xf1 | r0 = atomic64_cmpxchg((u64 *)(r1 +4), r0, r2)",
                "0xdb | 1 | 2 | 4 | 0x100 | r1 = load_acquire((u64 *)(r2 +4))",
                "0x30 | 0 | 0 | 0 | 23 | r0 = *(u8 *)skb[23]",
                "0x48 | 0 | 6 | 0 | 2 | r0 = *(u16 *)skb[r6 + 2]",
                "0x85 | 0 | 0 | 0 | 1 | call bpf_map_lookup_elem#1",
                "0x85 | 0 | 0 | 0 | 195896080 | call unknown#195896080",
                "0x85 | 0 | 1 | 0 | 12 | call pc+12",
                "0x85 | 0 | 2 | 0 | 4711 | call kernel-function#4711",
                "0x05 | 0 | 0 | -3 | 0 | goto pc-3",
                "0x06 | 0 | 0 | 0 | 70000 | gotol pc+70000",
                "0x0d | 7 | 0 | 0 | 0 | gotox r7",
                "0xe5 | 0 | 0 | 2 | 0 | may_goto pc+2",
                "0x15 | 0 | 0 | 1 | 0 | if r0 == 0x0 goto pc+1",
                "0xc6 | 3 | 0 | 1 | -1 | if w3 s< 0xffffffff goto pc+1",
                "0x2d | 3 | 4 | 1 | 0 | if r3 > r4 goto pc+1",
                "0x95 | 0 | 0 | 0 | 0 | exit",
                "0xff | 0 | 0 | 0 | 0 | unknown opcode 0xff",
            })
    void describesAsTheVerifierDoes(String opcode, int dst, int src, int offset, String imm, String expected) {
        Instruction slot = new Instruction(
                Integer.decode(opcode), dst, src, offset, Long.decode(imm).intValue());
        assertThat(Disassembler.describe(slot)).isEqualTo(expected);
    }

    @Test
    void saysWhatA64BitLoadStandsFor() {
        assertThat(Disassembler.lines(Assembler.create()
                        .loadImm64(1, -1L)
                        .loadMapFd(2, 7)
                        .loadMapValue(3, 7, 16)
                        .loadImm64(4, Opcodes.PSEUDO_FUNC, 12, 0)
                        .loadImm64(5, Opcodes.PSEUDO_BTF_ID, 99, 0)
                        .exit()
                        .assemble()))
                .containsExactly(
                        "0: (18) r1 = 0xffffffffffffffff",
                        "2: (18) r2 = map[fd:7]",
                        "4: (18) r3 = map[fd:7]+16",
                        "6: (18) r4 = subprog[pc+12]",
                        "8: (18) r5 = btf[99]",
                        "10: (95) exit");
    }

    @Test
    void describesEveryOpcodeWithoutFailing() {
        for (int opcode = 0; opcode < 256; opcode++) {
            assertThat(Disassembler.lines(List.of(new Instruction(opcode, 1, 2, 3, 4))))
                    .singleElement()
                    .asString()
                    .isNotEmpty();
        }
    }
}
