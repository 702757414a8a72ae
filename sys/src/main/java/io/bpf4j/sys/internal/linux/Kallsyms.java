package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.Host;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The kernel's symbols, from /proc/kallsyms: a hundred thousand lines, read for each look-up and not cached.
 *
 * <pre>
 * ffffffff81000000 T _stext
 * ffffffffc0a04000 t helper   [some_module]
 * </pre>
 *
 * <p>Without CAP_SYSLOG, or by sysctl kernel.kptr_restrict, all addresses read as 0; the names are still readable.
 *
 * <p>Tested by {@code LinuxFilesTest}.
 */
public record Kallsyms(Path file) {
    /** The symbols of a machine's kernel. */
    public static Kallsyms of(Host host) {
        return new Kallsyms(host.proc().resolve("kallsyms"));
    }

    /**
     * The addresses of the existing symbols, all different addresses for each name: static functions and variables of
     * different files may share a name. Addresses are 0 if the kernel hides them.
     *
     * @throws IOException if the file is missing (no CONFIG_KALLSYMS) or can't be read
     */
    public Map<String, List<Long>> addresses(Set<String> names) throws IOException {
        Map<String, List<Long>> found = new HashMap<>();
        // Names are ASCII but for those of some compilers; one byte a character never fails.
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int type = line.indexOf(' ');
                if (type < 1 || line.length() < type + 4) {
                    continue;
                }
                int start = type + 3;
                int end = line.indexOf('\t', start);
                String name = end < 0 ? line.substring(start) : line.substring(start, end);
                if (line.charAt(type + 1) == 'd') {
                    name = withoutLtoSuffix(name);
                }
                if (names.contains(name)) {
                    long address = Long.parseUnsignedLong(line, 0, type, 16);
                    List<Long> known = found.computeIfAbsent(name, _ -> new ArrayList<>());
                    if (!known.contains(address)) {
                        known.add(address);
                    }
                }
            }
        } catch (NumberFormatException e) {
            throw new IOException(file + " has a line that is not a symbol", e);
        }
        return found;
    }

    /** Link-time optimisation renames static variables that it moves among files: {@code bpf_link_fops.llvm.608971}. */
    private static String withoutLtoSuffix(String name) {
        int suffix = name.indexOf(".llvm.");
        return suffix < 0 ? name : name.substring(0, suffix);
    }
}
