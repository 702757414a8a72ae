package io.bpf4j.usdt.internal.spec;

import java.util.OptionalLong;

/** Knows the symbols of one ELF file. */
@FunctionalInterface
public interface SymbolResolver {

    /**
     * The virtual address of a symbol, before the load address is added; empty if there is none of that name, or
     * several with different addresses.
     */
    OptionalLong address(String symbol);
}
