package io.bpf4j.usdt.internal.process;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The name of somebody else's file: bytes, of any value but 0. <b>Immutable</b>.
 *
 * <p>Only the owner of a file decides what it is called, so its name may be no text in any encoding; and even where it
 * is UTF-8, {@code Path.of} refuses it if the locale has no such characters, as in an empty environment. So a path is
 * made of the bytes, by way of a URI, and what people see is another thing than what is opened.
 */
public final class FileName {
    private final byte[] bytes;

    private FileName(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The name in a range of bytes, which is copied. */
    static FileName of(byte[] bytes, int from, int to) {
        return new FileName(Arrays.copyOfRange(bytes, from, to));
    }

    /** A name that is text. */
    public static FileName of(String text) {
        return new FileName(text.getBytes(StandardCharsets.UTF_8));
    }

    boolean isAbsolute() {
        return bytes.length > 0 && bytes[0] == '/';
    }

    boolean endsWith(FileName end) {
        int from = bytes.length - end.bytes.length;
        return from >= 0 && Arrays.equals(bytes, from, bytes.length, end.bytes, 0, end.bytes.length);
    }

    /** Without so many bytes at its end. */
    FileName withoutLast(FileName end) {
        return of(bytes, 0, bytes.length - end.bytes.length);
    }

    /** With each of some sequences of bytes replaced by one byte. */
    FileName replaced(FileName sequence, int by) {
        ByteArrayOutputStream result = new ByteArrayOutputStream(bytes.length);
        int length = sequence.bytes.length;
        for (int i = 0; i < bytes.length; i++) {
            if (i + length <= bytes.length && Arrays.equals(bytes, i, i + length, sequence.bytes, 0, length)) {
                result.write(by);
                i += length - 1;
            } else {
                result.write(bytes[i]);
            }
        }
        return result.size() == bytes.length ? this : new FileName(result.toByteArray());
    }

    int length() {
        return bytes.length;
    }

    /** The path of exactly these bytes; the name is absolute. */
    public Path path() {
        return below("");
    }

    /** The same below a directory such as {@code /proc/7/root}, a path of ASCII characters. */
    Path below(String directory) {
        StringBuilder uri = new StringBuilder("file://").append(directory);
        for (byte b : bytes) {
            if (isPlain(b)) {
                uri.append((char) b);
            } else {
                uri.append('%').append(Character.forDigit(b >> 4 & 0xf, 16)).append(Character.forDigit(b & 0xf, 16));
            }
        }
        return Path.of(URI.create(uri.toString()));
    }

    private static boolean isPlain(byte b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '-' && b <= '9') || b == '_';
    }

    /** For people: UTF-8, and each byte that is none as {@code \xff}. */
    @Override
    public String toString() {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(4 * bytes.length);
        while (true) {
            CoderResult result = decoder.decode(in, out, true);
            if (!result.isError()) {
                return out.flip().toString();
            }
            for (int i = 0; i < result.length(); i++) {
                out.put(String.format("\\x%02x", in.get()));
            }
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FileName name && Arrays.equals(bytes, name.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
