package io.bpf4j.test.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * Inputs that a target once failed on, in the file {@code CLASS.findings} beside the class of the target: one on a line,
 * characters of ASCII as they are, other bytes and the backslash as {@code \xNN}. A line that begins with {@code #} says
 * what was wrong.
 */
final class Findings {
    private static final HexFormat HEX = HexFormat.of();

    private Findings() {}

    /** The findings of a target; empty if there are none. */
    static List<byte[]> of(Class<?> target) {
        try (InputStream in = target.getResourceAsStream(target.getSimpleName() + ".findings")) {
            return in == null
                    ? List.of()
                    : new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                            .lines()
                            .filter(line -> !line.startsWith("#"))
                            .map(Findings::bytes)
                            .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("reading the findings of " + target, e);
        }
    }

    /** The line of an input. */
    static String line(byte[] input) {
        StringBuilder line = new StringBuilder();
        for (byte b : input) {
            boolean plain = b >= ' ' && b <= '~' && b != '\\' && (b != '#' || !line.isEmpty());
            line.append(plain ? String.valueOf((char) b) : "\\x" + HEX.toHexDigits(b));
        }
        return line.toString();
    }

    static byte[] bytes(String line) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int at = 0; at < line.length(); at++) {
            if (line.charAt(at) == '\\') {
                bytes.write(HexFormat.fromHexDigits(line, at + 2, at + 4));
                at += 3;
            } else {
                bytes.write(line.charAt(at));
            }
        }
        return bytes.toByteArray();
    }
}
