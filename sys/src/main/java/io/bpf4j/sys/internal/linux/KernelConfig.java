package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.Host;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * The configuration of a kernel: {@code CONFIG_HZ=250} and ten thousand more options. <i>Immutable.</i>
 *
 * <p>A value is {@code y} or {@code m}, a number in decimal or with {@code 0x}, or text in double quotes; an option
 * that is off has no value ({@code # CONFIG_KPROBES is not set}).
 *
 * <p>Tested by {@code LinuxFilesTest}.
 *
 * @param source the file, or another origin, for messages
 */
public record KernelConfig(String source, Map<String, String> values) {
    /**
     * The configuration of a machine's kernel: from /proc/config.gz (CONFIG_IKCONFIG_PROC), or from the places that distributions
     * use.
     *
     * @return empty if the file is not in any of these places
     * @throws IOException if the file exists and can't be read
     */
    public static Optional<KernelConfig> of(Host host) throws IOException {
        Path root = host.root();
        String release = host.release();
        for (Path file : List.of(
                host.proc().resolve("config.gz"),
                root.resolve("boot/config-" + release),
                root.resolve("lib/modules/" + release + "/config"),
                root.resolve("usr/lib/modules/" + release + "/config"))) {
            if (Files.isReadable(file)) {
                return Optional.of(read(file));
            }
        }
        return Optional.empty();
    }

    /** Reads a file, compressed by gzip if its name or its first bytes indicate it. */
    static KernelConfig read(Path file) throws IOException {
        try (InputStream raw = new BufferedInputStream(Files.newInputStream(file));
                InputStream in =
                        file.toString().endsWith(".gz") || startsWithGzip(raw) ? new GZIPInputStream(raw) : raw) {
            return read(file.toString(), in);
        }
    }

    private static boolean startsWithGzip(InputStream in) throws IOException {
        in.mark(2);
        boolean magic = in.read() == 0x1f && in.read() == 0x8b;
        in.reset();
        return magic;
    }

    static KernelConfig read(String source, InputStream in) throws IOException {
        Map<String, String> values = new HashMap<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int equals = line.indexOf('=');
            if (line.startsWith("CONFIG_") && equals > 0) {
                // If an option occurs twice, the first is used, as in libbpf.
                values.putIfAbsent(
                        line.substring(0, equals), line.substring(equals + 1).strip());
            }
        }
        return new KernelConfig(source, values);
    }

    /**
     * Parses options from a user, in the same form. A malformed line is an error here, because the user has just typed
     * it.
     *
     * @throws IllegalArgumentException if a line is neither an option with a value nor a comment nor blank
     */
    public static KernelConfig parse(String text) {
        Map<String, String> values = new HashMap<>();
        int number = 0;
        for (String raw : text.lines().toList()) {
            number++;
            String line = raw.strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int equals = line.indexOf('=');
            String value = line.substring(equals + 1).strip();
            if (!line.startsWith("CONFIG_") || equals < 0 || value.isEmpty()) {
                throw new IllegalArgumentException(
                        "kernel configuration, line " + number + ": \"" + line + "\" is not CONFIG_NAME=value");
            }
            values.putIfAbsent(line.substring(0, equals).strip(), value);
        }
        return new KernelConfig("the given configuration", values);
    }

    /** The raw value of an option such as {@code CONFIG_HZ}; empty if it is off or unknown to this kernel. */
    public Optional<String> value(String option) {
        return Optional.ofNullable(values.get(option));
    }
}
