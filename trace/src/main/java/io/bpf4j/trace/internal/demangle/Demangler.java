package io.bpf4j.trace.internal.demangle;

/**
 * From symbols of C++ and Rust to names for people.
 *
 * <p>A compiler makes one symbol of a function's scopes, name, template arguments and parameters: {@code
 * _ZN3foo3barEi} is {@code foo::bar(int)}. C++ follows the Itanium C++ ABI on all platforms but Windows; Rust has a
 * scheme of its own (symbols that start with {@code _R}), and an older one that looks like C++.
 *
 * <p>Symbols come from files of other owners, and a short one can mean a name of any length, because it can refer to
 * parts of itself. So length, depth and work of a name are bounded ({@link Output}); a symbol beyond these limits, or
 * one that is malformed, stays as it is.
 *
 * <p>Tested by {@code DemanglerTest} and {@code DemanglerOnLibrariesTest}.
 */
public final class Demangler {
    private Demangler() {}

    /** Whether it looks like a symbol that can be demangled. */
    public static boolean isMangled(String symbol) {
        return symbol.startsWith("_Z") || symbol.startsWith("_R");
    }

    /** The name with parameters, and for functions of templates with the result; the symbol itself if it has none. */
    public static String demangle(String symbol) {
        return demangle(symbol, true);
    }

    /** The name alone. Parameters of an enclosing function remain, because they tell which function it is. */
    public static String withoutParameters(String symbol) {
        return demangle(symbol, false);
    }

    private static String demangle(String symbol, boolean parameters) {
        try {
            if (symbol.startsWith("_R")) {
                return RustSymbol.demangle(symbol);
            }
            if (symbol.startsWith("_Z")) {
                String rust = RustLegacySymbol.demangle(symbol);
                return rust.isEmpty() ? CppSymbol.demangle(symbol, parameters) : rust;
            }
        } catch (MalformedSymbolException e) {
            // As it is, then.
        }
        return symbol;
    }
}
