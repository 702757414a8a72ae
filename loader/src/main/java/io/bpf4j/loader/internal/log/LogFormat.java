package io.bpf4j.loader.internal.log;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A format of {@code bpf4j_log} (bpf4j/log.h): the format of printf, cut into literal text and conversions.
 * <i>Immutable.</i>
 *
 * <p>The parts are checked against the kinds of the arguments when the format is read from the object. So only the size
 * of a record can be wrong; any numbers in it can be printed.
 *
 * <p>Tested by {@code LogFormatTest}.
 *
 * @param level 1 for errors to 5 for traces
 * @param parts in their order
 * @param size of a record, in bytes
 */
public record LogFormat(int number, int level, List<Part> parts, int size) {
    /** {@code struct bpf4j_log_record}. */
    public static final int NUMBER = 0;

    public static final int CPU = 4;
    public static final int TIME = 8;
    public static final int FUNCTION = 16;
    static final int FUNCTION_BYTES = 16;
    public static final int ARGUMENTS = 32;

    private static final int TEXT_BYTES = 64;

    /** The maximum width and precision; larger ones would only make long lines. */
    private static final int MOST_COLUMNS = 128;

    private static final Pattern CONVERSION =
            Pattern.compile("%(?<flags>[-+ #0]*)(?<width>\\d*)(?:\\.(?<precision>\\d*))?"
                    + "(?<size>hh|h|ll|l|z)?(?<type>pI4|pks|pus|p(?![A-Za-z])|[diuxXocs%])");

    /** Literal text, or a conversion of the next argument. */
    sealed interface Part {}

    record Literal(String text) implements Part {}

    /**
     * A conversion.
     *
     * @param type the letter; {@code 4} for %pI4
     * @param precision -1 for none
     * @param bytes of the number
     */
    record Conversion(char type, String flags, int width, int precision, int bytes) implements Part {}

    /**
     * Reads a format.
     *
     * @param isText for each argument whether it is text
     * @throws InvalidObjectException if it can't be read, or does not fit its arguments
     */
    static LogFormat parse(int number, int level, String text, List<Boolean> isText) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = CONVERSION.matcher(text);
        int at = 0;
        int used = 0;
        int size = ARGUMENTS;
        while (true) {
            int percent = text.indexOf('%', at);
            if (percent < 0) {
                break;
            }
            if (!matcher.find(percent) || matcher.start() != percent) {
                throw refused(
                        text,
                        "\"" + text.substring(percent, Math.min(text.length(), percent + 6))
                                + "\" is not a conversion of bpf4j_log, which supports %d %i %u %x %X %o %c %p %s %% and %pI4");
            }
            parts.add(new Literal(text.substring(at, percent)));
            at = matcher.end();
            Conversion conversion = conversion(text, matcher);
            if (conversion.type() == '%') {
                parts.add(new Literal("%"));
                continue;
            }
            if (used == isText.size()) {
                throw refused(text, "it has more conversions than the " + isText.size() + " arguments");
            }
            boolean wantsText = conversion.type() == 's';
            if (wantsText != isText.get(used)) {
                throw refused(
                        text,
                        matcher.group() + " is for " + (wantsText ? "text" : "a number") + ", but argument "
                                + (used + 1) + " is "
                                + (wantsText ? "a number" : "text (a char *; cast it to void * for %p)"));
            }
            parts.add(conversion);
            size += Long.BYTES + (wantsText ? TEXT_BYTES : 0);
            used++;
        }
        if (used < isText.size()) {
            throw refused(text, "it has " + used + " conversions, but there are " + isText.size() + " arguments");
        }
        parts.add(new Literal(text.substring(at).stripTrailing()));
        return new LogFormat(number, level, List.copyOf(parts), size);
    }

    private static InvalidObjectException refused(String text, String why) {
        return new InvalidObjectException("the format of bpf4j_log \"" + text + "\": " + why);
    }

    private static Conversion conversion(String text, Matcher matcher) {
        String type = matcher.group("type");
        int width = columns(text, matcher.group("width"), 0);
        String digits = matcher.group("precision");
        int precision = digits == null ? -1 : columns(text, digits, 0);
        String size = matcher.group("size");
        int bytes = switch (size == null ? "" : size) {
            case "hh" -> 1;
            case "h" -> 2;
            case "" -> 4;
            default -> 8;
        };
        char letter = switch (type) {
            case "pks", "pus" -> 's';
            case "pI4" -> '4';
            case "i" -> 'd';
            default -> type.charAt(0);
        };
        return new Conversion(letter, matcher.group("flags"), width, precision, letter == 'p' ? 8 : bytes);
    }

    private static int columns(String text, String digits, int none) {
        if (digits.isEmpty()) {
            return none;
        }
        int columns = digits.length() > 3 ? MOST_COLUMNS + 1 : Integer.parseInt(digits);
        if (columns > MOST_COLUMNS) {
            throw refused(text, "a width or precision of " + digits + " is more than " + MOST_COLUMNS);
        }
        return columns;
    }

    /**
     * The line of a record.
     *
     * @param data at least {@link #size} bytes from the offset on
     */
    public String line(MemorySegment data, long offset) {
        StringBuilder line = new StringBuilder();
        long at = offset + ARGUMENTS;
        for (Part part : parts) {
            switch (part) {
                case Literal(String text) -> line.append(text);
                case Conversion conversion -> {
                    long value = data.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
                    at += Long.BYTES;
                    if (conversion.type() == 's') {
                        append(line, conversion, text(data.asSlice(at, TEXT_BYTES), value, conversion.precision()), "");
                        at += TEXT_BYTES;
                    } else {
                        append(line, conversion, value);
                    }
                }
            }
        }
        return line.toString();
    }

    /** The name of the function that wrote a record. */
    public static String function(MemorySegment data, long offset) {
        return printable(CString.of(data.asSlice(offset + FUNCTION, FUNCTION_BYTES)));
    }

    /** The text of an argument: what the program could read of it, and no control characters. */
    private static String text(MemorySegment bytes, long length, int precision) {
        if (length < 0) {
            return "(unreadable: " + (length >= -4095 ? Errno.describe((int) -length) : Long.toString(length)) + ")";
        }
        byte[] read = CString.bytes(bytes.asSlice(0, Math.min(length, TEXT_BYTES)));
        int kept = precision < 0 ? read.length : Math.min(precision, read.length);
        return printable(CString.exact(read, 0, kept));
    }

    /**
     * The text may come from another user: a newline in it would begin a new line, and a direction mark would change
     * the appearance of the line.
     */
    private static String printable(String text) {
        if (text.codePoints().noneMatch(LogFormat::isUnsafe)) {
            return text;
        }
        StringBuilder printable = new StringBuilder();
        text.codePoints().forEach(c -> {
            boolean isByte = c >= CString.RAW_BYTE_BASE + 0x80 && c <= CString.RAW_BYTE_BASE + 0xff;
            if (isUnsafe(c)) {
                printable.append(String.format(
                        Locale.ROOT,
                        isByte || c < 0x100 ? "\\x%02x" : "\\u{%x}",
                        isByte ? c - CString.RAW_BYTE_BASE : c));
            } else {
                printable.appendCodePoint(c);
            }
        });
        return printable.toString();
    }

    private static boolean isUnsafe(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    private static void append(StringBuilder line, Conversion conversion, long value) {
        int bits = conversion.bytes() * 8;
        long signed = value << (64 - bits) >> (64 - bits);
        long unsigned = value << (64 - bits) >>> (64 - bits);
        boolean alternate = conversion.flags().contains("#");
        switch (conversion.type()) {
            case 'd' -> {
                String sign = signed < 0
                        ? "-"
                        : conversion.flags().contains("+")
                                ? "+"
                                : conversion.flags().contains(" ") ? " " : "";
                number(
                        line,
                        conversion,
                        sign,
                        signed < 0 ? Long.toString(signed).substring(1) : Long.toString(signed));
            }
            case 'u' -> number(line, conversion, "", Long.toUnsignedString(unsigned));
            case 'x' -> number(line, conversion, alternate && unsigned != 0 ? "0x" : "", Long.toHexString(unsigned));
            case 'X' ->
                number(
                        line,
                        conversion,
                        alternate && unsigned != 0 ? "0X" : "",
                        Long.toHexString(unsigned).toUpperCase(Locale.ROOT));
            case 'o' -> number(line, conversion, alternate && unsigned != 0 ? "0" : "", Long.toOctalString(unsigned));
            case 'p' -> number(line, conversion, "0x", Long.toHexString(unsigned));
            case 'c' -> append(line, conversion, printable(String.valueOf((char) (value & 0xff))), "");
            case '4' -> append(line, conversion, address((int) value), "");
            default -> throw new IllegalStateException(conversion.toString());
        }
    }

    /** An IPv4 address whose bytes are in memory in the order of the network. */
    private static String address(int value) {
        MemorySegment bytes = MemorySegment.ofArray(new int[] {value});
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Integer.BYTES; i++) {
            text.append(i == 0 ? "" : ".").append(Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, i)));
        }
        return text.toString();
    }

    /** As in C: a precision is the least number of digits, and takes the zero flag's place. */
    private static void number(StringBuilder line, Conversion conversion, String prefix, String digits) {
        int least = conversion.precision() >= 0
                ? conversion.precision()
                : conversion.flags().contains("0") && !conversion.flags().contains("-")
                        ? conversion.width() - prefix.length()
                        : 0;
        String shown = conversion.precision() == 0 && digits.equals("0") ? "" : digits;
        append(line, conversion, "0".repeat(Math.max(0, least - shown.length())) + shown, prefix);
    }

    private static void append(StringBuilder line, Conversion conversion, String text, String prefix) {
        String padding = " ".repeat(Math.max(0, conversion.width() - prefix.length() - text.length()));
        boolean left = conversion.flags().contains("-");
        line.append(left ? "" : padding).append(prefix).append(text).append(left ? padding : "");
    }
}
