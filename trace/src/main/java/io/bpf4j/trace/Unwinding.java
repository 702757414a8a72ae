package io.bpf4j.trace;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolTables;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells whether a file has code that unwinds the stack for C++ exceptions and Rust panics.
 *
 * <p>Tested by {@code CliFunctionsTest}.
 */
final class Unwinding {
    /** The personality routines of C++ (Itanium C++ ABI, Exception Handling) and Rust. */
    private static final Set<String> ROUTINES = Set.of("__gxx_personality_v0", "rust_eh_personality");

    /**
     * The functions that such code calls in another library. The C library defines functions of these names for its own
     * use.
     */
    private static final Set<String> CALLS = Set.of("_Unwind_Resume", "_Unwind_RaiseException");

    private Unwinding() {}

    /** Whether this symbol shows that its file has such code. */
    static boolean indicates(Symbol symbol) {
        return ROUTINES.contains(symbol.name()) || (!symbol.isInSection() && CALLS.contains(symbol.name()));
    }

    static boolean isIn(ElfFile elf) {
        AtomicBoolean found = new AtomicBoolean();
        SymbolTables.read(elf, DebugFiles.standard(), (_, symbol) -> {
            if (indicates(symbol)) {
                found.set(true);
            }
        });
        return found.get();
    }
}
