/**
 * Loads BPF objects into the kernel: programs, maps, links, ring buffers.
 *
 * <p>Use it to run compiled BPF programs of your own. Begin with {@link io.bpf4j.loader}; then {@link
 * io.bpf4j.loader.map} and {@link io.bpf4j.loader.ring} have the data that programs share with Java, {@link
 * io.bpf4j.loader.link} all that a program can be attached to, and {@link io.bpf4j.loader.error} the exceptions.
 */
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
