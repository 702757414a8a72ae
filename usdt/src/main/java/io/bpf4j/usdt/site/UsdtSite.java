package io.bpf4j.usdt.site;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One place of a probe in the code. The compiler may copy code, so a probe often has several sites, each with its
 * arguments in other places. <b>Immutable</b>.
 *
 * @param address virtual address of the probe's instruction as the file has it (after undoing prelink), before the
 *     load address is added
 * @param fileOffset byte offset of this instruction in the file, at which the kernel puts the breakpoint
 * @param semaphoreAddress virtual address of the semaphore, a 16-bit reference counter that is not 0 while a tracer is
 *     attached; 0 if the site has none
 * @param semaphoreOffset byte offset of the semaphore in the file; 0 if the site has none
 * @param arguments the argument string, as in the file
 * @param args the parsed arguments
 * @param symbols virtual addresses of the symbols that {@code args} name. A symbol is missing if the file's symbol
 *     tables don't have it, or have it with different addresses; an argument that names it can't be read
 * @param code the instructions at {@code fileOffset}
 */
public record UsdtSite(
        long address,
        long fileOffset,
        long semaphoreAddress,
        long semaphoreOffset,
        String arguments,
        List<UsdtArg> args,
        Map<String, Long> symbols,
        NopForm code) {
    /** The number of arguments that {@code usdt.bpf.h} can read: BPF_USDT_MAX_ARG_CNT. */
    private static final int MAX_READ = 12;

    public UsdtSite {
        args = List.copyOf(args);
        symbols = Map.copyOf(symbols);
    }

    /** A site whose code has not been read. */
    public UsdtSite(
            long address,
            long fileOffset,
            long semaphoreAddress,
            long semaphoreOffset,
            String arguments,
            List<UsdtArg> args,
            Map<String, Long> symbols) {
        this(address, fileOffset, semaphoreAddress, semaphoreOffset, arguments, args, symbols, NopForm.OTHER);
    }

    /** Whether the program checks a semaphore before it prepares arguments. */
    public boolean hasSemaphore() {
        return semaphoreAddress != 0;
    }

    /**
     * The same site at the nop that the kernel can replace by a call; this site, if it has no such nop or is at that
     * nop already. Arguments, symbols and semaphore do not change, because no instruction is between the two nops.
     *
     * <p>Read {@link NopForm} first: kernels that optimise 5-byte nops destroy the red zone of the traced program, and
     * kernels that don't optimise 10-byte nops refuse a probe there (ENOTSUPP).
     */
    public UsdtSite atOptimisableNop() {
        OptionalInt distance = code.optimisableAt();
        if (distance.isEmpty() || distance.getAsInt() == 0) {
            return this;
        }
        int bytes = distance.getAsInt();
        NopForm there = code == NopForm.NOP_NOP10 ? NopForm.NOP10 : NopForm.NOP5;
        return new UsdtSite(
                address + bytes,
                fileOffset + bytes,
                semaphoreAddress,
                semaphoreOffset,
                arguments,
                args,
                symbols,
                there);
    }

    /**
     * The arguments that no BPF program can read, by their numbers from 0, each with the reason. Objects built against
     * libbpf 1.6 or earlier can't read memory with an index ({@link UsdtArg.Memory}) either.
     */
    public SortedMap<Integer, String> unreadable() {
        SortedMap<Integer, String> reasons = new TreeMap<>();
        for (int i = 0; i < Math.min(args.size(), MAX_READ + 1); i++) {
            String reason = i == MAX_READ
                    ? "a BPF program can read the first " + MAX_READ + " arguments only"
                    : reason(args.get(i));
            if (reason != null) {
                reasons.put(i, reason);
            }
        }
        return reasons;
    }

    private @Nullable String reason(UsdtArg arg) {
        return switch (arg.operand()) {
            case UsdtArg.Constant _, UsdtArg.Register _ -> null;
            case UsdtArg.Memory m -> unresolved(m.symbol());
            case UsdtArg.Unsupported u -> u.reason();
        };
    }

    private @Nullable String unresolved(@Nullable String symbol) {
        return symbol == null || symbols.containsKey(symbol)
                ? null
                : "the file's symbol tables have no one address for '" + symbol + "'";
    }
}
