package io.bpf4j.btf;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A name space of C, in which each name is given once. BTF may have several types of a name, because each source file
 * of a kernel may have its own. The second one becomes {@code name___2}. CO-RE ignores what follows the three
 * underscores, so a program may use either.
 *
 * <p>A name that is not an identifier of C, such as {@code Option<u8>} of Rust, gets underscores for other characters.
 */
final class CNames {
    /**
     * The keywords of C, and those of gcc 12 and clang 19: as the name of a member they declare no member, or are an
     * error. C23 has more without underscores, such as {@code bool}, which the kernel defines itself.
     */
    private static final Set<String> KEYWORDS =
            Set.of(("auto break case char const continue default do double else enum"
                            + " extern float for goto if inline int long register restrict return short signed sizeof static"
                            + " struct switch typedef union unsigned void volatile while asm typeof"
                            + " _Accum _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal32 _Decimal64 _Decimal128"
                            + " _Float16 _Float32 _Float64 _Float128 _Fract _Generic _Imaginary _Nonnull _Noreturn"
                            + " _Nullable _Sat _Static_assert _Thread_local"
                            + " __alignof __alignof__ __asm __asm__ __attribute __attribute__ __auto_type __bf16 __complex"
                            + " __complex__ __const __const__ __extension__ __float128 __fp16 __func__ __FUNCTION__"
                            + " __ibm128 __imag __imag__ __inline __inline__ __int128 __label__ __null"
                            + " __PRETTY_FUNCTION__ __private_extern__ __real __real__ __restrict __restrict__ __signed"
                            + " __signed__ __thread __typeof __typeof__ __typeof_unqual __typeof_unqual__ __volatile"
                            + " __volatile__")
                    .split(" "));

    private final Set<String> taken = new HashSet<>();

    /** The last suffix of each name, so that many types of one name don't take quadratic time. */
    private final Map<String, Integer> lastSuffix = new HashMap<>();

    /** The name as an identifier that was not given before. */
    String unique(String name) {
        String plain = identifier(name);
        if (taken.add(plain)) {
            return plain;
        }
        while (true) {
            String next = plain + "___" + lastSuffix.merge(plain, 2, (last, _) -> last + 1);
            if (taken.add(next)) {
                return next;
            }
        }
    }

    /** A name as an identifier of C. */
    static String identifier(String name) {
        if (name.isEmpty()) {
            return "_";
        }
        StringBuilder identifier = new StringBuilder(name.length());
        name.codePoints().forEach(c -> identifier.append(isIdentifier(c) ? (char) c : '_'));
        if (Character.isDigit(identifier.charAt(0))) {
            identifier.insert(0, '_');
        }
        String plain = identifier.toString();
        return KEYWORDS.contains(plain) ? plain + "_" : plain;
    }

    static boolean isIdentifier(int c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
}
