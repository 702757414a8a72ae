package io.bpf4j.trace.internal.demangle;

/**
 * Demangles the symbols of C++ and Rust.
 *
 * <p>A compiler encodes a function's scopes, name, template arguments and parameter types in one symbol: {@code
 * _ZN3foo3barEi} is {@code foo::bar(int)}. C++ follows the Itanium C++ ABI on all platforms but Windows; Rust has a
 * scheme of its own (symbols that start with {@code _R}), and an older one that looks like C++.
 *
 * <p>Symbols come from files of other owners, and a short symbol can stand for a name of any length, because it can
 * refer to parts of itself. So the length, depth and work of a name are bounded ({@link Output}). A symbol that is
 * malformed or exceeds these limits is returned unchanged, and so is a symbol on which a reader fails: nothing is
 * thrown.
 *
 * <p>Tested by {@code DemanglerTest} and {@code DemanglerOnLibrariesTest}.
 */
public final class Demangler {
    /** Characters of a symbol. The longest ones of real programs have some ten thousand. */
    private static final int MAX_SYMBOL = 1 << 16;

    private Demangler() {}

    /** Whether a symbol has the prefix of a mangled name. */
    public static boolean isMangled(String symbol) {
        return symbol.startsWith("_Z") || symbol.startsWith("_R");
    }

    /**
     * The name of a symbol. A C++ function's name includes the types of its parameters and, for an instance of a
     * function template, of its result. A symbol that can't be demangled is returned unchanged.
     */
    public static String demangle(String symbol) {
        return demangle(symbol, true);
    }

    /** The name without parameters. Those of an enclosing function remain, because they tell overloads apart. */
    public static String withoutParameters(String symbol) {
        return demangle(symbol, false);
    }

    private static String demangle(String symbol, boolean parameters) {
        if (symbol.length() > MAX_SYMBOL) {
            return symbol;
        }
        try {
            if (symbol.startsWith("_R")) {
                return RustSymbol.demangle(symbol);
            }
            if (symbol.startsWith("_Z")) {
                String rust = RustLegacySymbol.demangle(symbol);
                return rust.isEmpty() ? CppSymbol.demangle(symbol, parameters) : rust;
            }
        } catch (MalformedSymbolException | RuntimeException | StackOverflowError e) {
            // The symbol is returned unchanged. The last two exceptions are bugs of the readers. The tests of the
            // readers see them, but here they must not end a whole answer.
        }
        return symbol;
    }
}
