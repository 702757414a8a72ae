package io.bpf4j.usdt.site;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One location of a probe in the code. The compiler may copy code, so a probe often has several sites, each with its
 * arguments in other registers or memory. <i>Immutable.</i>
 */
public sealed interface UsdtSite permits UsdtSiteData {
    /**
     * A site without semaphore and arguments, whose code is unknown; see {@link #address} and {@link #fileOffset}.
     */
    static UsdtSite at(long address, long fileOffset) {
        return new UsdtSiteData(address, fileOffset, 0, 0, "", List.of(), Map.of(), NopForm.OTHER);
    }

    /** The same site with a semaphore; see {@link #semaphoreAddress} and {@link #semaphoreOffset}. */
    UsdtSite withSemaphore(long address, long offset);

    /** The same site with arguments; see {@link #arguments}, {@link #args} and {@link #symbols}. */
    UsdtSite withArguments(String text, List<UsdtArg> args, Map<String, Long> symbols);

    /** The same site with other code; see {@link #code}. */
    UsdtSite withCode(NopForm code);

    /**
     * Virtual address of the probe's instruction as the file has it (after undoing prelink), before the load address is
     * added.
     */
    long address();

    /** Byte offset of this instruction in the file, at which the kernel puts the breakpoint. */
    long fileOffset();

    /**
     * Virtual address of the semaphore, a 16-bit reference counter that is not 0 while a tracer is attached; 0 if the
     * site has none.
     */
    long semaphoreAddress();

    /** Byte offset of the semaphore in the file; 0 if the site has none. */
    long semaphoreOffset();

    /** The argument string, as in the file. */
    String arguments();

    /** The parsed arguments. */
    List<UsdtArg> args();

    /**
     * Virtual addresses of the symbols that {@link #args} name. A symbol is missing if the file's symbol tables don't
     * have it, or have it with different addresses; an argument that names it can't be read.
     */
    Map<String, Long> symbols();

    /** The instructions at {@link #fileOffset}. */
    NopForm code();

    /** Whether the program checks a semaphore before it prepares arguments. */
    default boolean hasSemaphore() {
        return semaphoreAddress() != 0;
    }

    /**
     * The same site at the nop that the kernel can replace by a call; this site, if it has no such nop or is at that
     * nop already. Arguments, symbols and semaphore do not change, because no instruction is between the two nops.
     *
     * <p>Read {@link NopForm} first: kernels that optimise 5-byte nops destroy the red zone of the traced program, and
     * kernels that don't optimise 10-byte nops refuse a probe there (ENOTSUPP).
     */
    UsdtSite atOptimisableNop();

    /**
     * The arguments that no BPF program can read, by their numbers from 0, each with the reason. Objects built against
     * libbpf 1.6 or earlier can't read memory with an index ({@link UsdtArg.Memory}) either.
     */
    SortedMap<Integer, String> unreadable();
}

record UsdtSiteData(
        long address,
        long fileOffset,
        long semaphoreAddress,
        long semaphoreOffset,
        String arguments,
        List<UsdtArg> args,
        Map<String, Long> symbols,
        NopForm code)
        implements UsdtSite {
    /** The number of arguments that {@code usdt.bpf.h} can read: BPF_USDT_MAX_ARG_CNT. */
    private static final int MAX_READ = 12;

    UsdtSiteData {
        args = List.copyOf(args);
        symbols = Map.copyOf(symbols);
    }

    @Override
    public UsdtSite withSemaphore(long where, long offset) {
        return new UsdtSiteData(address, fileOffset, where, offset, arguments, args, symbols, code);
    }

    @Override
    public UsdtSite withArguments(String text, List<UsdtArg> parsed, Map<String, Long> addresses) {
        return new UsdtSiteData(address, fileOffset, semaphoreAddress, semaphoreOffset, text, parsed, addresses, code);
    }

    @Override
    public UsdtSite withCode(NopForm other) {
        return new UsdtSiteData(
                address, fileOffset, semaphoreAddress, semaphoreOffset, arguments, args, symbols, other);
    }

    @Override
    public UsdtSite atOptimisableNop() {
        int bytes = code.optimisableAt().orElse(0);
        return bytes == 0
                ? this
                : new UsdtSiteData(
                        address + bytes,
                        fileOffset + bytes,
                        semaphoreAddress,
                        semaphoreOffset,
                        arguments,
                        args,
                        symbols,
                        code == NopForm.NOP_NOP10 ? NopForm.NOP10 : NopForm.NOP5);
    }

    @Override
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
            case UsdtArg.Memory m -> m.symbol().map(this::unresolved).orElse(null);
            case UsdtArg.Unsupported u -> u.reason();
        };
    }

    private @Nullable String unresolved(String symbol) {
        return symbols.containsKey(symbol)
                ? null
                : "the file's symbol tables don't have exactly one address for '" + symbol + "'";
    }
}
