package io.bpf4j.usdt.site;

import java.util.Arrays;
import java.util.List;

/**
 * The kernel's own order of registers, written down from its headers and independently of the grammars: the fields of
 * the struct that a BPF program gets of each machine, 8 bytes each, as arch/ARCH/include/uapi/asm/ptrace.h declares it.
 * A dot is a field that no argument names.
 */
final class PtRegs {
    private PtRegs() {}

    private static final String X86 =
            "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi . rip . . rsp ."; // struct pt_regs
    private static final String ARM64 = numbered("x", 31) + " sp pc"; // struct user_pt_regs: regs[31], sp, pc
    // A 32-bit process on an arm64 kernel: r0 to r14 are the first 15 of regs (compat_sp and compat_lr of
    // arch/arm64/include/asm/ptrace.h are regs[13] and regs[14]).
    private static final String ARM = numbered("r", 13) + " sp lr" + " .".repeat(17) + " pc";
    private static final String RISCV64 =
            "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9"
                    + " s10 s11 t3 t4 t5 t6"; // struct user_regs_struct
    private static final String S390X =
            ". . pc " + numbered("r", 16); // user_pt_regs: args[1], psw mask, psw addr, gprs
    private static final String PPC64 = numbered("r", 32) + " nip"; // struct pt_regs: gpr[32], nip
    // struct user_pt_regs: regs[32], orig_a0, csr_era. r0 is always zero and no place.
    private static final String LOONGARCH64 =
            ". ra tp sp a0 a1 a2 a3 a4 a5 a6 a7 t0 t1 t2 t3 t4 t5 t6 t7 t8 r21 fp s0 s1" + " s2 s3 s4 s5 s6 s7 s8 . pc";

    /** Byte offset of a register. */
    static int offset(Machine machine, String register) {
        int high = machine == Machine.X86_64 || machine == Machine.I386
                ? List.of("ah", "bh", "ch", "dh").indexOf(register)
                : -1;
        if (high >= 0) {
            return offset(Machine.X86_64, List.of("rax", "rbx", "rcx", "rdx").get(high)) + 1;
        }
        String name = machine == Machine.I386 ? "r" + register.substring(1) : register;
        int index = fields(machine).indexOf(name);
        if (index < 0) {
            throw new AssertionError(machine + " has no register " + register);
        }
        return 8 * index;
    }

    /** All registers of a machine that can hold an argument, by their full names. */
    static List<String> registers(Machine machine) {
        List<String> names = fields(machine).stream()
                .filter(n -> !n.equals(".") && !n.equals("pc") && !n.equals("nip"))
                .toList();
        return machine == Machine.I386 ? List.of("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp") : names;
    }

    private static List<String> fields(Machine machine) {
        String order = switch (machine) {
            case X86_64, I386 -> X86;
            case AARCH64 -> ARM64;
            case ARM -> ARM;
            case RISCV64 -> RISCV64;
            case S390X -> S390X;
            case PPC64LE -> PPC64;
            case LOONGARCH64 -> LOONGARCH64;
            case OTHER -> "";
        };
        return Arrays.asList(order.split(" "));
    }

    private static String numbered(String prefix, int count) {
        StringBuilder all = new StringBuilder();
        for (int n = 0; n < count; n++) {
            all.append(n == 0 ? "" : " ").append(prefix).append(n);
        }
        return all.toString();
    }
}
