package io.bpf4j.usdt.site;

import io.bpf4j.elf.ByteView;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.OptionalInt;

/**
 * The instructions that the program has at a site, which decide whether the kernel can make the probe cheap.
 * <b>Immutable</b>.
 *
 * <p>A probe is a {@code nop}. The kernel puts a breakpoint over its first byte, and each firing is a trap. On x86-64 it
 * can do with a call to a trampoline instead, and a system call there, which is several times faster; but only where the
 * nop is long enough to be overwritten by the call. So newer headers emit two: {@code nop} for every kernel, and after it
 * a long one for those that know how. The note gives the first, and whoever attaches may go on to the second
 * ({@link UsdtSite#atOptimisableNop()}).
 *
 * <p><b>Nothing moves unless asked for, because of the red zone.</b> The x86-64 ABI lets a function keep data in the 128
 * bytes below the stack pointer, if it calls nothing. A call that replaces a 5-byte nop pushes its return address right
 * there and destroys them: the traced program computes wrong results. Linux 6.18 optimises 5-byte nops in this way; in
 * 2026 it went over to 10-byte ones, which have room to step over the red zone first. A breakpoint has no such effect on
 * any kernel. Kernels from before that change refuse a probe on this 10-byte nop with ENOTSUPP, because of the prefix in
 * it (is_prefix_bad in arch/x86/kernel/uprobes.c): so neither nop is the right one everywhere, but the first.
 *
 * <p>Byte sequences: arch/x86/include/asm/nops.h; what headers emit: github.com/libbpf/usdt, pull requests 15
 * (nop,nop5) and 16 (nop,nop10); kernel commits "uprobes/x86: Move optimized uprobe from nop5 to nop10" and "libbpf:
 * Change has_nop_combo to work on top of nop10".
 */
public enum NopForm {
    /** {@code nop} and then a 10-byte nop. */
    NOP_NOP10("nop,nop10", 1, "90662e0f1f840000000000"),
    /** {@code nop} and then a 5-byte nop. Unsafe to optimise: see above. */
    NOP_NOP5("nop,nop5", 1, "900f1f440000"),
    /** {@code nop}, and the program goes on. */
    NOP("nop", -1, "90"),
    /** A 10-byte nop alone: a kernel that optimises these does so unasked, and one that doesn't takes no probe there. */
    NOP10("nop10", 0, "662e0f1f840000000000"),
    /** A 5-byte nop alone: Linux 6.18 optimises it unasked, red zone or not. */
    NOP5("nop5", 0, "0f1f440000"),
    /** Any other code; or that of another machine than x86, where there is nothing to choose. */
    OTHER("other", -1, "");

    /** The longer forms begin like the shorter, and stand before them. */
    private static final NopForm[] LONGEST_FIRST = values();

    private final String text;
    private final int optimisable;
    /** A character for each byte. */
    private final String code;

    NopForm(String text, int optimisable, String code) {
        this.text = text;
        this.optimisable = optimisable;
        this.code = new String(HexFormat.of().parseHex(code), StandardCharsets.ISO_8859_1);
    }

    /**
     * Bytes from the site to the nop that a kernel may replace by a call: 0 or 1. Empty where there is none.
     */
    public OptionalInt optimisableAt() {
        return optimisable < 0 ? OptionalInt.empty() : OptionalInt.of(optimisable);
    }

    /** As people write it: {@code nop,nop10}. */
    @Override
    public String toString() {
        return text;
    }

    /** What is at an offset of the ELF file; {@link #OTHER} beyond its end, as in a file with debug information only. */
    public static NopForm at(ByteView file, long offset, Machine machine) {
        return switch (machine) {
            case X86_64 -> ofX86(file, offset);
            case I386 -> NOP.isAt(file, offset) ? NOP : OTHER;
            case AARCH64, ARM, RISCV64, S390X, PPC64LE, LOONGARCH64, OTHER -> OTHER;
        };
    }

    private static NopForm ofX86(ByteView file, long offset) {
        for (NopForm form : LONGEST_FIRST) {
            if (form.isAt(file, offset)) {
                return form;
            }
        }
        return OTHER;
    }

    private boolean isAt(ByteView file, long offset) {
        if (offset < 0 || offset > file.size() - code.length()) {
            return false;
        }
        for (int i = 0; i < code.length(); i++) {
            if (file.u8(offset + i) != code.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
