package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits the text of an expression into {@link Token}s. <i>Confined.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
final class Lexer {
    /** Longer symbols first, because {@code <<} is not two times {@code <}. */
    private static final List<String> SYMBOLS = List.of(
            "<<", ">>", "<=", ">=", "==", "!=", "!~", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "&", "^", "|", "~",
            "!", "?", ":", "(", ")", ",");

    /** The prefix of a name that stands for a value of a latency's begin; prefix and name are one word. */
    static final String BEGIN = "begin.";

    private final String text;
    private int at;

    private Lexer(String text) {
        this.text = text;
    }

    /**
     * All tokens, the last of which is the end.
     *
     * @throws ExpressionException at a character that can't begin a token
     */
    static List<Token> tokens(String text) {
        Lexer lexer = new Lexer(text);
        List<Token> tokens = new ArrayList<>();
        do {
            tokens.add(lexer.next());
        } while (!(tokens.getLast() instanceof Token.End));
        return tokens;
    }

    private Token next() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        int start = at;
        if (at == text.length()) {
            return new Token.End(start);
        }
        char c = text.charAt(at);
        if (isDigit(c)) {
            NumberReader number = new NumberReader(text, at);
            Token.Numeral token = number.read();
            at = number.end();
            return token;
        }
        if (isWordStart(c)) {
            return word();
        }
        if (c == '"') {
            return new Token.Text(start, quoted('"', "text"));
        }
        if (c == '\'') {
            Bytes bytes = quoted('\'', "character");
            if (bytes.length() != 1) {
                throw error(start, "a character between '…' is one byte; text is written between \"…\"");
            }
            return new Token.Numeral(start, bytes.at(0), ValueType.Int.S64);
        }
        return symbol();
    }

    /** A name, which may be that of a value at the begin of a pair: {@code begin.arg0}. */
    private Token.Word word() {
        int start = at;
        skipWord();
        if (text.startsWith(BEGIN, start) && at == start + BEGIN.length() - 1 && wordStartsAt(at + 1)) {
            at++;
            skipWord();
        }
        return new Token.Word(start, text.substring(start, at));
    }

    private void skipWord() {
        while (at < text.length() && (isWordStart(text.charAt(at)) || isDigit(text.charAt(at)))) {
            at++;
        }
    }

    private Token.Symbol symbol() {
        int start = at;
        for (String symbol : SYMBOLS) {
            if (text.startsWith(symbol, at)) {
                at += symbol.length();
                return new Token.Symbol(start, symbol);
            }
        }
        throw error(
                start,
                text.charAt(at) == '='
                        ? "'=' is not an operator; '==' compares"
                        : "no operator starts with this character");
    }

    private boolean wordStartsAt(int index) {
        return index < text.length() && isWordStart(text.charAt(index));
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    static boolean isWordStart(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private Bytes quoted(char quote, String kind) {
        int start = at++;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        while (at < text.length() && text.charAt(at) != quote) {
            if (text.charAt(at) == '\\') {
                bytes.write(escape());
            } else {
                int c = text.codePointAt(at);
                bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
                at += Character.charCount(c);
            }
        }
        if (at == text.length()) {
            throw error(start, "this " + kind + " is not closed");
        }
        at++;
        return Bytes.of(bytes.toByteArray());
    }

    /** Reads an escape of C. At most three octal digits, or two hexadecimal ones, give a byte of any value. */
    private int escape() {
        int start = at++;
        char c = at < text.length() ? text.charAt(at++) : 0;
        int simple = "abfnrtv\\\"'?".indexOf(c);
        if (simple >= 0) {
            return "\007\b\f\n\r\t\013\\\"'?".charAt(simple);
        }
        if (c == 'x') {
            return digits(start, 16, 2);
        }
        if (Character.digit(c, 8) >= 0 && c < 0x80) {
            at--;
            return digits(start, 8, 3);
        }
        throw error(start, "unknown escape; write a backslash as \\\\, also before a character of a pattern");
    }

    private int digits(int start, int radix, int maxDigits) {
        int value = 0;
        int count = 0;
        while (count < maxDigits
                && at < text.length()
                && text.charAt(at) < 0x80
                && Character.digit(text.charAt(at), radix) >= 0) {
            value = radix * value + Character.digit(text.charAt(at++), radix);
            count++;
        }
        if (count == 0 || value > 0xff) {
            throw error(start, "this escape is not a byte");
        }
        return value;
    }

    private ExpressionException error(int position, String reason) {
        return new ExpressionException(text, position, reason);
    }
}
