/**
 * User statically-defined tracing: finds probes in binaries and processes and attaches BPF programs to them.
 *
 * <p>Use it to list the probes of a program, and to attach a BPF program of your own to them. Begin with {@link
 * io.bpf4j.usdt}; {@link io.bpf4j.usdt.site} describes a probe's sites in the code and its arguments.
 */
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
