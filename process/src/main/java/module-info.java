/**
 * Other processes: their mappings, threads and children, and how they are stopped and continued. They may belong to any
 * user, and their data is not trusted.
 *
 * <p>Only the modules {@code io.bpf4j.usdt} and {@code io.bpf4j.trace} use it; it exports no package to others.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // modules that are compiled later
module io.bpf4j.process {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;

    exports io.bpf4j.process to
            io.bpf4j.usdt,
            io.bpf4j.trace,
            io.bpf4j.cli;
    exports io.bpf4j.process.hold to
            io.bpf4j.usdt,
            io.bpf4j.trace,
            io.bpf4j.cli;
    exports io.bpf4j.process.peer to
            io.bpf4j.trace,
            io.bpf4j.cli;
}
