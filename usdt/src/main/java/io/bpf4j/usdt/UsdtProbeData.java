package io.bpf4j.usdt;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.List;

/** The only implementation of {@link UsdtProbe}. */
record UsdtProbeData(UsdtBinary binary, String provider, String name, List<UsdtSite> sites, List<Diagnostic> problems)
        implements UsdtProbe {
    UsdtProbeData {
        sites = SiteColumns.of(sites);
        problems = List.copyOf(problems);
        if (sites.isEmpty()) {
            throw new IllegalArgumentException("probe " + provider + ":" + name + " has no site");
        }
    }

    @Override
    public UsdtProbe withSites(List<UsdtSite> some) {
        return new UsdtProbeData(binary, provider, name, some, problems);
    }
}
