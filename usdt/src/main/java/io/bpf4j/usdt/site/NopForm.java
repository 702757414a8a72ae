package io.bpf4j.usdt.site;

import io.bpf4j.elf.ByteView;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.OptionalInt;

/**
 * The instructions at a site, which determine whether the kernel can optimise the probe. <i>Immutable.</i>
 *
 * <p>A probe is a {@code nop}. The kernel puts a breakpoint over its first byte, and each firing is a trap. On x86-64
 * the kernel can use a call to a trampoline with a system call instead, which is several times faster; but only if the
 * nop is long enough to be overwritten by the call. So newer headers emit two: {@code nop} for every kernel, and after
 * it a long nop for kernels with this optimisation. The note gives the address of the first, and a tracer may choose
 * the second ({@link UsdtSite#atOptimisableNop()}).
 *
 * <p><b>A site is moved only on request, because of the red zone.</b> The x86-64 ABI lets a function keep data in the
 * 128 bytes below the stack pointer, if it calls nothing. A call that replaces a 5-byte nop pushes its return address
 * there and destroys these data: the traced program computes wrong results. Linux 6.18 optimises 5-byte nops in this
 * way; in 2026 Linux changed to 10-byte nops, which have room for an instruction that skips the red zone first. A
 * breakpoint has no such effect on any kernel. Kernels from before this change refuse a probe on the 10-byte nop with
 * ENOTSUPP, because of its prefix (is_prefix_bad in arch/x86/kernel/uprobes.c): so only the first nop works on every
 * kernel.
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
    /** {@code nop} alone. */
    NOP("nop", -1, "90"),
    /** A 10-byte nop alone: a kernel that optimises 10-byte nops always does so, other kernels refuse a probe there. */
    NOP10("nop10", 0, "662e0f1f840000000000"),
    /** A 5-byte nop alone: Linux 6.18 always optimises it, even if the red zone is in use. */
    NOP5("nop5", 0, "0f1f440000"),
    /** Any other code, and all code of machines other than x86. */
    OTHER("other", -1, "");

    /** The longer forms start with the same bytes as the shorter forms and are declared before them. */
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
     * Bytes from the site to the nop that a kernel may replace by a call: 0 or 1. Empty if the site has no such nop.
     */
    public OptionalInt optimisableAt() {
        return optimisable < 0 ? OptionalInt.empty() : OptionalInt.of(optimisable);
    }

    /** The usual notation: {@code nop,nop10}. */
    @Override
    public String toString() {
        return text;
    }

    /**
     * The form at an offset of the ELF file; {@link #OTHER} beyond its end, as in a file with debug information only.
     */
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
        int length = code.length();
        if (offset < 0 || offset > file.size() - length) {
            return false;
        }
        // From the end, where the forms differ.
        for (int i = length - 1; i >= 0; i--) {
            if (file.u8(offset + i) != code.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
