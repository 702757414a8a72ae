package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.site.UsdtSite;
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
}
