package io.bpf4j.trace.internal.demangle;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the symbol of a Rust function in the older scheme, which looks like a name of C++ and ends with a hash: {@code
 * _ZN4core3fmt5Write9write_fmt17h0123456789abcdefE} is {@code core::fmt::Write::write_fmt}. Characters that an
 * identifier can't contain are written as {@code $LT$} and the like.
 *
 * <p>Tested by {@code DemanglerTest}.
 */
final class RustLegacySymbol {
    private static final Pattern HASH = Pattern.compile("h[0-9a-f]{16}");
    private static final Pattern ESCAPE = Pattern.compile("\\$(?:u([0-9a-f]{1,6})|([A-Z]{1,2}))\\$");

    private static final Map<String, String> SIGNS =
            Map.of("SP", "@", "BP", "*", "RF", "&", "LT", "<", "GT", ">", "LP", "(", "RP", ")", "C", ",");

    private RustLegacySymbol() {}

    /** The name; empty if the symbol does not follow this scheme. */
    static String demangle(String symbol) throws MalformedSymbolException {
        if (!symbol.startsWith("_ZN") || symbol.indexOf("17h") < 0) {
            return "";
        }
        Cursor in = new Cursor(symbol, 3);
        Output out = new Output();
        String part = "";
        int parts = 0;
        while (in.atDigit()) {
            if (parts > 0) {
                out.text(parts == 1 ? "" : "::").text(unescaped(part));
            }
            part = in.take(in.number());
            parts++;
        }
        boolean isRust = parts > 1 && in.peek() == 'E' && HASH.matcher(part).matches() && looksRandom(part);
        return isRust ? out.toString() : "";
    }

    /** A hash has at least five different digits. A C++ function's name of the same form hardly has. */
    private static boolean looksRandom(String hash) {
        return hash.chars().skip(1).distinct().count() >= 5;
    }

    private static String unescaped(String part) {
        // An identifier can't start with '$', so the compiler writes an underscore before it.
        String text = part.startsWith("_$") ? part.substring(1) : part;
        Matcher escape = ESCAPE.matcher(text);
        StringBuilder name = new StringBuilder();
        int end = 0;
        while (escape.find()) {
            String code = escape.group(1);
            String sign = code == null
                    ? SIGNS.getOrDefault(escape.group(2), escape.group())
                    : character(Integer.parseInt(code, 16), escape.group());
            name.append(plain(text.substring(end, escape.start()))).append(sign);
            end = escape.end();
        }
        return name.append(plain(text.substring(end))).toString();
    }

    private static String character(int code, String otherwise) {
        return Character.isValidCodePoint(code) && !Character.isISOControl(code) && !isSurrogate(code)
                ? Character.toString(code)
                : otherwise;
    }

    private static boolean isSurrogate(int code) {
        return code >= Character.MIN_SURROGATE && code <= Character.MAX_SURROGATE;
    }

    private static String plain(String text) {
        return text.replace("..", "::");
    }
}
