package io.bpf4j.loader.internal.linux;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The kernel's symbols, from /proc/kallsyms: a hundred thousand lines, read anew for each question and not kept.
 *
 * <pre>
 * ffffffff81000000 T _stext
 * ffffffffc0a04000 t helper   [some_module]
 * </pre>
 *
 * <p>Without CAP_SYSLOG, or by sysctl kernel.kptr_restrict, all addresses read as 0; the names are there all the same.
 */
public final class Kallsyms {
    private final Path file;

    public Kallsyms(Path file) {
        this.file = file;
    }

    /** Those of the kernel that this process runs on. */
    public static Kallsyms running() {
        return new Kallsyms(Path.of("/proc/kallsyms"));
    }

    /**
     * The addresses of the symbols that are there, the first of each name; 0 where addresses are hidden.
     *
     * @throws IOException if the file is missing (no CONFIG_KALLSYMS) or can't be read
     */
    public Map<String, Long> addresses(Set<String> names) throws IOException {
        Map<String, Long> found = new HashMap<>();
        // Names are ASCII but for those of some compilers; one byte a character never fails.
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null && found.size() < names.size(); line = lines.readLine()) {
                int type = line.indexOf(' ');
                if (type < 1 || line.length() < type + 4) {
                    continue;
                }
                int start = type + 3;
                int end = line.indexOf('\t', start);
                String name = end < 0 ? line.substring(start) : line.substring(start, end);
                if (names.contains(name)) {
                    found.putIfAbsent(name, Long.parseUnsignedLong(line, 0, type, 16));
                }
            }
        } catch (NumberFormatException e) {
            throw new IOException(file + " has a line that is no symbol", e);
        }
        return found;
    }
}
