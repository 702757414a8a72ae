package io.bpf4j.usdt;

import java.util.List;
import java.util.Map;

/**
 * One place in the code where a probe is: the compiler may copy code, so a probe often has several, each with its
 * arguments in other places. <b>Immutable</b>.
 *
 * @param address virtual address of the probe's instruction as the file has it (after undoing prelink), before the
 *     load address is added
 * @param fileOffset byte offset of that instruction in the file: where the kernel puts the breakpoint
 * @param semaphoreAddress virtual address of the 16-bit counter that tells the program that somebody listens; 0 if
 *     the site has none
 * @param semaphoreOffset byte offset of that counter in the file; 0 if the site has none
 * @param arguments the argument string, as in the file
 * @param args the same, understood
 * @param symbols virtual addresses of the symbols that {@code args} name. One that isn't in here isn't in the file's
 *     symbol tables, or stands there with different addresses; an argument that names it can't be read
 */
public record UsdtSite(
        long address,
        long fileOffset,
        long semaphoreAddress,
        long semaphoreOffset,
        String arguments,
        List<UsdtArg> args,
        Map<String, Long> symbols) {
    public UsdtSite {
        args = List.copyOf(args);
        symbols = Map.copyOf(symbols);
    }

    /** Whether the program looks at a counter before it prepares arguments. */
    public boolean hasSemaphore() {
        return semaphoreAddress != 0;
    }
}
