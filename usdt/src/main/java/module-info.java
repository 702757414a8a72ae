/** User statically-defined tracing: finds probes in binaries and processes and attaches BPF programs to them. */
@org.jspecify.annotations.NullMarked
module io.bpf4j.usdt {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;

    exports io.bpf4j.usdt;
    exports io.bpf4j.usdt.site;

    provides io.bpf4j.loader.SectionAttacher with
            io.bpf4j.usdt.internal.section.UsdtSectionAttacher;
}
