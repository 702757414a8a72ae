/** User statically-defined tracing: finds probes in binaries and processes and attaches BPF programs to them. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the module trace, which is compiled later
module io.bpf4j.usdt {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;

    exports io.bpf4j.usdt;
    exports io.bpf4j.usdt.site;
    exports io.bpf4j.usdt.internal.process to
            io.bpf4j.trace;

    provides io.bpf4j.loader.SectionAttacher with
            io.bpf4j.usdt.internal.section.UsdtSectionAttacher;
}
