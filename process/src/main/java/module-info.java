/**
 * Other processes: what they have mapped, their threads and children, and how they are stopped and continued. They
 * belong to anybody, and what they show is not trusted.
 *
 * <p>It is part of the modules {@code io.bpf4j.usdt} and {@code io.bpf4j.trace}, and has no package for others.
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
