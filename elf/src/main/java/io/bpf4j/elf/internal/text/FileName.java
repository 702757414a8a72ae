package io.bpf4j.elf.internal.text;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A file name that another user may have chosen: bytes of any value except 0. <i>Immutable.</i>
 *
 * <p>The owner of a file chooses its name, so the name need not be text in any encoding. Even if it is UTF-8, {@code
 * Path.of} rejects it if the locale lacks its characters, as in an empty environment. So this class makes a path from
 * the bytes that a file, a process or the kernel reports, through a URI. The displayed text is separate from the path
 * that is opened.
 */
public final class FileName {
    /** Below a file, so that nothing exists there. */
    private static final Path NOWHERE = Path.of("/dev/null");

    private final byte[] bytes;

    private FileName(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A name with these bytes, which are copied. */
    public static FileName of(byte[] bytes) {
        return of(bytes, 0, bytes.length);
    }

    /** A name from a range of bytes, which is copied. */
    public static FileName of(byte[] bytes, int from, int to) {
        return new FileName(Arrays.copyOfRange(bytes, from, to));
    }

    /** A name from text. */
    public static FileName of(String text) {
        return new FileName(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * All bytes of a path. The text of a path is decoded by the locale, and without a locale (LC_ALL=C) bytes that are
     * not ASCII are lost; its URI has every byte. To make the URI, Java checks whether the path is a directory, and
     * follows symbolic links, possibly into a file system of another user that does not respond. So this is done with a
     * path at which no file can exist.
     */
    public static FileName of(Path path) {
        String text = path.toString();
        if (isAscii(text) || !path.getFileSystem().equals(FileSystems.getDefault())) {
            return of(text);
        }
        Path names = path.subpath(0, path.getNameCount());
        String uri = NOWHERE.resolve(names).toUri().getRawPath();
        int begin = NOWHERE.toString().length();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(uri.length() - begin);
        for (int i = path.isAbsolute() ? begin : begin + 1; i < uri.length(); i++) {
            if (uri.charAt(i) == '%') {
                bytes.write(Integer.parseInt(uri, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(uri.charAt(i));
            }
        }
        return new FileName(bytes.toByteArray());
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    /** In bytes. */
    public int length() {
        return bytes.length;
    }

    public boolean isAbsolute() {
        return bytes.length > 0 && bytes[0] == '/';
    }

    /** Whether its last bytes are this text in UTF-8. */
    public boolean endsWith(String text) {
        byte[] end = text.getBytes(StandardCharsets.UTF_8);
        int from = bytes.length - end.length;
        return from >= 0 && Arrays.equals(bytes, from, bytes.length, end, 0, end.length);
    }

    /** Whether it is the name of a file in a directory: not a path, {@code .} or {@code ..}. */
    public boolean isPlain() {
        String text = toString();
        return !text.isEmpty()
                && !text.equals(".")
                && !text.equals("..")
                && text.indexOf('/') < 0
                && text.indexOf('\0') < 0;
    }

    /** The path with exactly these bytes. */
    public Path path() {
        return isAbsolute() ? belowRoot() : below(Path.of(""));
    }

    /** The path below a directory, such as {@code /proc/7/root}, whether the name is absolute or not. */
    public Path below(Path directory) {
        Path path = belowRoot();
        int names = path.getNameCount();
        return names == 0 ? directory : directory.resolve(path.subpath(0, names));
    }

    private Path belowRoot() {
        StringBuilder uri = new StringBuilder(isAbsolute() ? "file://" : "file:///");
        for (byte b : bytes) {
            if (isUnescaped(b)) {
                uri.append((char) b);
            } else {
                uri.append('%').append(Character.forDigit(b >> 4 & 0xf, 16)).append(Character.forDigit(b & 0xf, 16));
            }
        }
        return Path.of(URI.create(uri.toString()));
    }

    private static boolean isUnescaped(byte b) {
        return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '-' && b <= '9') || b == '_';
    }

    /** Text for display: UTF-8, with each invalid byte as {@code \xff}. */
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
