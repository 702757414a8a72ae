package io.bpf4j.usdt;

import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A probe of one file, with all its sites. <b>Immutable</b>.
 *
 * @param binary the file
 * @param provider first part of its name: {@code hotspot}
 * @param name second part: {@code gc__begin}
 * @param sites in the order of the file, at least one
 * @param problems sites that are left out because the kernel would refuse them, and sites that may never fire; one line
 *     each, at most about a hundred
 */
public record UsdtProbe(UsdtBinary binary, String provider, String name, List<UsdtSite> sites, List<String> problems) {
    public UsdtProbe {
        sites = SiteColumns.of(sites);
        problems = List.copyOf(problems);
        if (sites.isEmpty()) {
            throw new IllegalArgumentException("probe " + provider + ":" + name + " has no site");
        }
    }

    /** A probe without problems. */
    public UsdtProbe(UsdtBinary binary, String provider, String name, List<UsdtSite> sites) {
        this(binary, provider, name, sites, List.of());
    }

    /** The sites as columns, the form that attaching takes. */
    SiteColumns columns() {
        return SiteColumns.of(sites);
    }

    /** The same probe with some of its sites only. */
    public UsdtProbe withSites(List<UsdtSite> some) {
        return new UsdtProbe(binary, provider, name, some, problems);
    }

    /** The path by which to open the file. */
    public Path path() {
        return binary.path();
    }

    /** The file's name without its directories, which DTrace calls the module of a probe. */
    public String module() {
        return binary.name().substring(binary.name().lastIndexOf('/') + 1);
    }

    /** {@code provider:name}. */
    public String fullName() {
        return provider + ":" + name;
    }

    /**
     * All probes of a file, in the order of their first sites. An empty list is not an error; {@link UsdtScan#diagnose}
     * gives the reason.
     *
     * @throws IOException if the file can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it is no ELF file, or a broken one
     */
    public static List<UsdtProbe> inFile(Path path) throws IOException {
        return UsdtScan.ofFile(path).probes();
    }

    /**
     * The probes of a file that match a pattern.
     *
     * @param pattern {@code provider:name} with wildcards, see {@link ProbePattern}
     * @throws IOException if the file can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it is no ELF file, or a broken one
     */
    public static List<UsdtProbe> inFile(Path path, String pattern) throws IOException {
        return UsdtScan.ofFile(path).matching(ProbePattern.parse(pattern));
    }

    /**
     * The probes that match a pattern in all files that a process has mapped executable, in its own mount namespace,
     * including deleted files. A file that can't be read is left out; {@link UsdtScan#ofProcess} reports it.
     *
     * @throws IOException if the process does not exist or its mappings can't be read
     */
    public static List<UsdtProbe> inProcess(int pid, String pattern) throws IOException {
        ProbePattern parsed = ProbePattern.parse(pattern);
        return UsdtScan.ofProcess(Host.running(), pid).stream()
                .flatMap(scan -> scan.matching(parsed).stream())
                .toList();
    }
}
