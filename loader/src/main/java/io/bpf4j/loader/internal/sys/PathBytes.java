package io.bpf4j.loader.internal.sys;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The bytes of a path. To Linux a name is bytes, and a {@link Path} keeps them; but its text is decoded by the locale,
 * and without one (LC_ALL=C) all that is not ASCII is lost. The path's URI has every byte.
 */
final class PathBytes {
    private PathBytes() {}

    /** The bytes that a system call takes, ended by NUL. */
    static byte[] terminated(Path path) {
        String text = path.toString();
        if (text.chars().allMatch(c -> c < 0x80)) {
            return (text + "\0").getBytes(StandardCharsets.US_ASCII);
        }
        String uri = path.toUri().getRawPath();
        // Of a directory, the URI ends with a slash, which the path does not need.
        int end = uri.length() > 1 && uri.endsWith("/") ? uri.length() - 1 : uri.length();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(end + 1);
        for (int i = 0; i < end; i++) {
            if (uri.charAt(i) == '%') {
                bytes.write(Integer.parseInt(uri, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(uri.charAt(i));
            }
        }
        bytes.write(0);
        return bytes.toByteArray();
    }
}
