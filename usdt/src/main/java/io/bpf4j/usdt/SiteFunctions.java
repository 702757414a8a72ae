package io.bpf4j.usdt;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfLimits;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The functions that contain sites, by the file's symbol tables.
 *
 * <p>Symbol tables may have millions of entries, and most callers that scan for probes don't need them. So a scan does
 * not read them, and this class reads the file once more. It keeps one symbol for each site: the last one at or before
 * its address. A function may have several names, as {@code longjmp} and {@code siglongjmp}: each is matched while it is
 * read, because a file can give one function millions of names.
 *
 * <p>Tested by {@code ScannedFilesTest}.
 */
final class SiteFunctions {
    private final long[] addresses;
    private final @Nullable Symbol[] nearest;
    private final List<ProbePattern> patterns;

    /** For each symbol in {@code nearest} the indexes of the patterns that match one of its function's names. */
    private final BitSet[] matches;

    /** For each site the index in {@code nearest} of the function that contains it; negative if none does. */
    private final int[] slots;

    private SiteFunctions(long[] addresses, List<ProbePattern> patterns) {
        this.addresses = addresses;
        this.nearest = new Symbol[addresses.length];
        this.patterns = patterns;
        this.matches = new BitSet[addresses.length];
        this.slots = new int[addresses.length];
    }

    /**
     * Reads the symbols for the sites of these probes.
     *
     * <p>The file may belong to another owner, who can put a FIFO in its place at any time: {@link OpenFile} opens
     * regular files only, and what was opened is what was scanned.
     *
     * @param probes of one file
     * @param patterns the patterns for {@link #matches}
     * @param limits the limits with which the file was scanned
     * @throws IOException if the file can't be read, or was replaced
     * @throws io.bpf4j.elf.MalformedDataException if its symbol tables are broken
     */
    static SiteFunctions of(List<UsdtProbe> probes, List<ProbePattern> patterns, ElfLimits limits) throws IOException {
        SiteFunctions functions = new SiteFunctions(
                probes.stream()
                        .flatMap(probe -> probe.sites().stream())
                        .mapToLong(UsdtSite::address)
                        .sorted()
                        .distinct()
                        .toArray(),
                patterns);
        if (probes.isEmpty()) {
            return functions;
        }
        UsdtBinary binary = probes.getFirst().binary();
        try (OpenFile file = OpenFile.open(Host.running(), binary.path(), binary.name())) {
            if (!file.identity().equals(binary.identity())) {
                throw new IOException(binary.name() + " was replaced or written after its probes were read");
            }
            try (ElfFile elf = ElfFile.open(file.path(), binary.name(), limits)) {
                functions.addAll(elf.symbols());
                functions.addAll(elf.dynamicSymbols());
            }
        } catch (SyscallException e) {
            throw new IOException(e.getMessage(), e);
        }
        functions.find();
        return functions;
    }

    private void addAll(Stream<Symbol> symbols) {
        symbols.filter(s -> s.isFunction() && s.isInSection()).forEach(symbol -> {
            int found = Arrays.binarySearch(addresses, symbol.value());
            int first = found >= 0 ? found : -found - 1;
            if (first < nearest.length) {
                add(symbol, first);
            }
        });
    }

    private void add(Symbol symbol, int slot) {
        Symbol before = nearest[slot];
        if (before == null || symbol.value() > before.value()) {
            nearest[slot] = symbol;
            matches[slot] = new BitSet();
        } else if (symbol.value() < before.value()) {
            return;
        } else if (before.isLocal() && !symbol.isLocal()) {
            // Of several names of one function the exported one is shown.
            nearest[slot] = symbol;
        }
        for (int i = 0; i < patterns.size(); i++) {
            if (patterns.get(i).matchesFunction(symbol.name())) {
                matches[slot].set(i);
            }
        }
    }

    /** The function of each site by the site's address; a site outside of all functions is left out. */
    Map<Long, String> byAddress() {
        Map<Long, String> names = new HashMap<>();
        for (int site = 0; site < addresses.length; site++) {
            Symbol symbol = slots[site] < 0 ? null : nearest[slots[site]];
            if (symbol != null) {
                names.put(addresses[site], symbol.name());
            }
        }
        return names;
    }

    /** Whether a name of the function that contains the site matches the pattern with this index. */
    boolean matches(long address, int pattern) {
        int slot = slots[Arrays.binarySearch(addresses, address)];
        return slot < 0 ? patterns.get(pattern).matchesFunction("") : matches[slot].get(pattern);
    }

    /** Finds the function that contains each site, after all symbols. */
    private void find() {
        int last = -1;
        for (int site = 0; site < addresses.length; site++) {
            Symbol own = nearest[site];
            last = own == null ? last : site;
            Symbol symbol = last < 0 ? null : nearest[last];
            // A function in assembly may have no size: it ends where the next one starts.
            slots[site] = symbol != null && (symbol.size() == 0 || addresses[site] - symbol.value() < symbol.size())
                    ? last
                    : -1;
        }
    }
}
