package io.bpf4j.usdt;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;

/** A probe of one file, with all its sites. {@link UsdtScan} finds probes. <i>Immutable.</i> */
public sealed interface UsdtProbe permits UsdtProbeData {
    /**
     * A probe without problems.
     *
     * @param sites at least one
     */
    static UsdtProbe of(UsdtBinary binary, String provider, String name, List<UsdtSite> sites) {
        return new UsdtProbeData(binary, provider, name, sites, List.of());
    }

    /** The same probe with some of its sites only, or with its sites moved. */
    UsdtProbe withSites(List<UsdtSite> sites);

    /** The file. */
    UsdtBinary binary();

    /**
     * The first part of the name: {@code hotspot}. In both parts a byte that is not UTF-8 is a lone surrogate, U+DC00 plus
     * the byte.
     */
    String provider();

    /** The second part of the name: {@code gc__begin}. */
    String name();

    /** In the order of the file, at least one. */
    List<UsdtSite> sites();

    /**
     * Sites that are left out because the kernel would refuse them, and sites that may never fire. The subject is the
     * probe. At most about a hundred.
     */
    List<Diagnostic> problems();

    /** The path by which to open the file. */
    default Path path() {
        return binary().path();
    }

    /** The file's name without its directories, which DTrace calls the module of a probe. */
    default String module() {
        return binary().name().substring(binary().name().lastIndexOf('/') + 1);
    }

    /** {@code provider:name}. */
    default String fullName() {
        return provider() + ":" + name();
    }
}
