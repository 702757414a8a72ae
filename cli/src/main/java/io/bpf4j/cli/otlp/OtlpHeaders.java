package io.bpf4j.cli.otlp;

import io.bpf4j.cli.failure.AccessFile;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The headers of each push, usually one with a token. No message contains the value of a header.
 *
 * <p>Tested by {@code OtlpHeadersTest}.
 */
final class OtlpHeaders {
    /** The maximum size of a file in bytes. */
    static final int MAX_BYTES = 1 << 16;

    private OtlpHeaders() {}

    /**
     * Reads a file that has a header on each line, {@code Name: value}. A line that begins with {@code #} is a comment.
     *
     * @throws CommandException if it is no such file, or another user can change or read it
     */
    static Map<String, String> read(Path file) throws IOException {
        String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(AccessFile.secret(file, MAX_BYTES)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new CommandException(file + ": is not text in UTF-8", e);
        }
        Map<String, String> headers = none();
        List<String> lines = text.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String where = file + ":" + (i + 1) + ": ";
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new CommandException(where + "is not a header such as 'Authorization: Bearer …'");
            }
            Optional<String> problem = add(
                    headers,
                    line.substring(0, colon).strip(),
                    line.substring(colon + 1).strip());
            if (problem.isPresent()) {
                throw new CommandException(where + problem.get());
            }
        }
        return headers;
    }

    /**
     * The headers of an environment variable: {@code name=value,name=value}, with the values percent-encoded
     * (OpenTelemetry specification, "Specifying headers via environment variables").
     *
     * @throws UsageException if it is not of this form
     */
    static Map<String, String> parse(String variable, String text) {
        Map<String, String> headers = none();
        for (String part : text.split(",", -1)) {
            if (part.isBlank()) {
                continue;
            }
            int equals = part.indexOf('=');
            Optional<String> problem;
            try {
                problem = equals <= 0
                        ? Optional.of("has a part that is not name=value")
                        : add(
                                headers,
                                part.substring(0, equals).strip(),
                                URLDecoder.decode(
                                        part.substring(equals + 1).strip().replace("+", "%2B"),
                                        StandardCharsets.UTF_8));
            } catch (IllegalArgumentException e) {
                problem = Optional.of("has a value with a % that is not followed by two hexadecimal digits");
            }
            if (problem.isPresent()) {
                throw new UsageException(variable + " " + problem.get());
            }
        }
        return headers;
    }

    static Map<String, String> none() {
        return new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    }

    /** Adds a header, or returns what is wrong with it, without its value. */
    private static Optional<String> add(Map<String, String> headers, String name, String value) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.startsWith("content-") || lower.equals("transfer-encoding")) {
            return Optional.of("the header " + name + " is set by bpf4j itself");
        }
        if (value.isEmpty()) {
            return Optional.of("the header " + name + " has no value");
        }
        try {
            HttpRequest.Builder _ = HttpRequest.newBuilder().header(name, value);
        } catch (IllegalArgumentException e) {
            // The message of the JDK may have the value.
            return Optional.of("the header '" + name + "' is not valid in HTTP, or can't be set");
        }
        return headers.putIfAbsent(name, value) == null
                ? Optional.empty()
                : Optional.of("the header " + name + " occurs twice");
    }
}
