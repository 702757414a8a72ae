/** Loads BPF objects into the kernel: programs, maps, links, ring buffers. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // modules that are compiled later
module io.bpf4j.loader {
    requires static transitive org.jspecify;
    requires transitive io.bpf4j.sys;

    exports io.bpf4j.loader;
    exports io.bpf4j.loader.binding;
    exports io.bpf4j.loader.dryrun;
    exports io.bpf4j.loader.error;
    exports io.bpf4j.loader.feature;
    exports io.bpf4j.loader.map;
    exports io.bpf4j.loader.ring;
    exports io.bpf4j.loader.link;
    exports io.bpf4j.loader.spec;
    exports io.bpf4j.loader.internal.attach to
            io.bpf4j.process;
    exports io.bpf4j.loader.internal.types to
            io.bpf4j.process;
    exports io.bpf4j.loader.internal.glob to
            io.bpf4j.usdt,
            io.bpf4j.trace,
            io.bpf4j.cli;

    uses io.bpf4j.loader.SectionAttacher;
}
