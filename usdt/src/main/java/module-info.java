/** User statically-defined tracing: finds probes in binaries and processes and attaches BPF programs to them. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the module trace, which is compiled later
module io.bpf4j.usdt {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;
    requires io.bpf4j.process;

    exports io.bpf4j.usdt;
    exports io.bpf4j.usdt.site;

    provides io.bpf4j.loader.SectionAttacher with
            io.bpf4j.usdt.internal.section.UsdtSectionAttacher;
}
