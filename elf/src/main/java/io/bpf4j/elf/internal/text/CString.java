package io.bpf4j.elf.internal.text;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Text in C's form: UTF-8 that ends before the first NUL. Text without a NUL ends where its bytes end: an array of
 * characters may be full. A reader of a format in which the NUL must be there compares with that end.
 *
 * <p>Tested by {@code CStringTest}.
 */
public final class CString {
    /** A byte that is not UTF-8 is this character plus the byte, as in Python's "surrogateescape" (PEP 383). */
    public static final char RAW_BYTE_BASE = '\udc00';

    private static final char REPLACEMENT = '\ufffd';

    private CString() {}

    /**
     * The index of the first NUL from an index on. If there is none before the limit, the limit; or the index, if it is
     * beyond.
     */
    public static int end(byte[] bytes, int from, int limit) {
        int at = from;
        while (at < limit && bytes[at] != 0) {
            at++;
        }
        return at;
    }

    /** The text before the first NUL: {@link #exact}. */
    public static String of(byte[] bytes) {
        return exact(bytes, 0, end(bytes, 0, bytes.length));
    }

    /** The text before the first NUL: {@link #exact}. */
    public static String of(MemorySegment memory) {
        return exact(bytes(memory));
    }

    /** {@link #exact(byte[], int, int)} of all bytes. */
    public static String exact(byte[] bytes) {
        return exact(bytes, 0, bytes.length);
    }

    /**
     * All bytes of a range as text, of which different bytes make different texts: a byte that is not UTF-8 becomes one of
     * 128 lone surrogates ({@link #RAW_BYTE_BASE}), which no text in UTF-8 contains.
     */
    public static String exact(byte[] bytes, int from, int to) {
        String text = new String(bytes, from, to - from, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) < 0) {
            return text;
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(bytes, from, to - from);
        CharBuffer out = CharBuffer.allocate(to - from);
        CoderResult result = decoder.decode(in, out, true);
        while (result.isMalformed()) {
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (RAW_BYTE_BASE + (in.get() & 0xff)));
            }
            result = decoder.decode(in, out, true);
        }
        return out.flip().toString();
    }

    /** The bytes that {@link #exact} has made a text of. Of another text it is UTF-8, with '?' for half of a pair. */
    public static byte[] encode(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (text.chars().noneMatch(unit -> Character.isSurrogate((char) unit))) {
            return utf8;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(utf8.length);
        text.codePoints().forEach(point -> {
            if (point >= RAW_BYTE_BASE + 0x80 && point <= RAW_BYTE_BASE + 0xff) {
                bytes.write(point - RAW_BYTE_BASE);
            } else {
                bytes.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }

    /** The bytes of a text, without its NUL. */
    public static byte[] bytes(MemorySegment memory) {
        long end = 0;
        while (end < memory.byteSize() && memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return memory.asSlice(0, end).toArray(ValueLayout.JAVA_BYTE);
    }
}
