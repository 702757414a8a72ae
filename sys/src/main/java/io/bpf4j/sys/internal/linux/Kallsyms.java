package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
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
    /** A hundred thousand symbols take some ten megabytes. */
    private static final long MAX_BYTES = 1L << 28;

    private static final int MAX_LINE_BYTES = 1 << 12;

    /** The letters of nm(1) for functions, the last two of weak ones. */
    private static final String FUNCTIONS = "tTwW";

    /** The letters of nm(1) for symbols in sections of data, of zeroes and of constants. */
    private static final String VARIABLES = "dDbBrR";

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
        // Sets, because a module may have any number of symbols of one name.
        Map<String, Set<Long>> found = new HashMap<>();
        forEach((address, type, line, from, to) -> {
            int end = from;
            while (end < to && line[end] != '\t') {
                end++;
            }
            // Some compilers make names that are not ASCII; decoding each byte as a character never fails.
            String name = new String(line, from, end - from, StandardCharsets.ISO_8859_1);
            if (type == 'd') {
                name = withoutLtoSuffix(name);
            }
            if (names.contains(name)) {
                found.computeIfAbsent(name, _ -> new LinkedHashSet<>()).add(address);
            }
        });
        Map<String, List<Long>> addresses = new HashMap<>();
        found.forEach((name, all) -> addresses.put(name, List.copyOf(all)));
        return addresses;
    }

    /**
     * The different addresses of the functions of a module with a name; 0 if the kernel hides them.
     *
     * @throws IOException as {@link #addresses}
     */
    public List<Long> functions(String module, String name) throws IOException {
        byte[] wanted = (name + "\t[" + module + "]").getBytes(StandardCharsets.UTF_8);
        Set<Long> found = new LinkedHashSet<>();
        forEach((address, type, line, from, to) -> {
            if (FUNCTIONS.indexOf(type) >= 0 && Arrays.equals(line, from, to, wanted, 0, wanted.length)) {
                found.add(address);
            }
        });
        return List.copyOf(found);
    }

    /**
     * Whether variables are among the symbols. Without CONFIG_KALLSYMS_ALL the kernel keeps functions only.
     *
     * @throws IOException as {@link #addresses}
     */
    public boolean hasVariables() throws IOException {
        boolean[] found = {false};
        forEach((address, type, line, from, to) -> found[0] |= VARIABLES.indexOf(type) >= 0);
        return found[0];
    }

    /** Receives the symbols. */
    public interface Reader {
        /**
         * Receives one symbol.
         *
         * @param address 0 if the kernel hides it
         * @param type the letter that nm(1) prints: {@code t} and {@code T} are functions, {@code w} and {@code W} weak ones
         * @param line the bytes of the line, valid during this call
         * @param from where the name begins
         * @param to the end of the line: of a module's symbol, a tab and the module in brackets follow the name
         */
        void symbol(long address, byte type, byte[] line, int from, int to);
    }

    /**
     * Reads all symbols, in the kernel's order.
     *
     * @throws IOException if the file is missing (no CONFIG_KALLSYMS), can't be read, or has a line that is no symbol
     */
    public void forEach(Reader reader) throws IOException {
        boolean complete = Lines.read(file, MAX_LINE_BYTES, MAX_BYTES, (line, length) -> {
            long address = 0;
            int at = 0;
            for (; at < length && line[at] != ' '; at++) {
                int digit = Character.digit(line[at], 16);
                if (digit < 0) {
                    throw new IOException(file + " has a line that is not a symbol");
                }
                address = address << 4 | digit;
            }
            if (at > 0 && at + 3 < length) {
                reader.symbol(address, line[at + 1], line, at + 3, length);
            }
            return true;
        });
        if (!complete) {
            throw new IOException(file + " has more than " + (MAX_BYTES >> 20) + " MiB");
        }
    }

    /** Link-time optimisation renames static variables that it moves among files: {@code bpf_link_fops.llvm.608971}. */
    private static String withoutLtoSuffix(String name) {
        int suffix = name.indexOf(".llvm.");
        return suffix < 0 ? name : name.substring(0, suffix);
    }
}
