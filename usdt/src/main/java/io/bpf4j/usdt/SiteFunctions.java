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
 * its address.
 *
 * <p>Tested by {@code ScannedFilesTest}.
 */
final class SiteFunctions {
    private final long[] addresses;
    private final @Nullable Symbol[] nearest;

    private SiteFunctions(long[] addresses) {
        this.addresses = addresses;
        this.nearest = new Symbol[addresses.length];
    }

    /**
     * The function of each site of these probes by the site's address; a site outside of all functions is left out.
     *
     * <p>The file may belong to another owner, who can put a FIFO in its place at any time: {@link OpenFile} opens
     * regular files only, and what was opened is what was scanned.
     *
     * @param probes of one file
     * @param limits those that the file was scanned with
     * @throws IOException if the file can't be read, or was replaced
     * @throws io.bpf4j.elf.MalformedDataException if its symbol tables are broken
     */
    static Map<Long, String> of(List<UsdtProbe> probes, ElfLimits limits) throws IOException {
        if (probes.isEmpty()) {
            return Map.of();
        }
        UsdtBinary binary = probes.getFirst().binary();
        SiteFunctions functions = new SiteFunctions(probes.stream()
                .flatMap(probe -> probe.sites().stream())
                .mapToLong(UsdtSite::address)
                .sorted()
                .distinct()
                .toArray());
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
        return functions.byAddress();
    }

    private void addAll(Stream<Symbol> symbols) {
        symbols.filter(s -> s.isFunction() && s.isInSection()).forEach(symbol -> {
            int found = Arrays.binarySearch(addresses, symbol.value());
            int first = found >= 0 ? found : -found - 1;
            if (first < nearest.length && isBetter(symbol, nearest[first])) {
                nearest[first] = symbol;
            }
        });
    }

    /** Whether a symbol is nearer to the site; of several names of one function, the exported one is better. */
    private static boolean isBetter(Symbol symbol, @Nullable Symbol than) {
        return than == null
                || symbol.value() > than.value()
                || (symbol.value() == than.value() && than.isLocal() && !symbol.isLocal());
    }

    private Map<Long, String> byAddress() {
        Map<Long, String> names = new HashMap<>();
        Symbol last = null;
        for (int i = 0; i < addresses.length; i++) {
            last = nearest[i] == null ? last : nearest[i];
            // A function in assembly may have no size: it ends where the next one starts.
            if (last != null && (last.size() == 0 || addresses[i] - last.value() < last.size())) {
                names.put(addresses[i], last.name());
            }
        }
        return names;
    }
}
