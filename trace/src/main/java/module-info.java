/**
 * Questions about running programs: counts, histograms, latencies and stacks of probes, computed in the kernel.
 *
 * <p>Use it to measure running programs without writing a BPF program. Begin with {@link io.bpf4j.trace}; {@link
 * io.bpf4j.trace.expression} describes filters, keys and values, {@link io.bpf4j.trace.catalog} the names of
 * arguments, and {@link io.bpf4j.trace.stack} names the functions of stacks.
 */
@SuppressWarnings("module") // modules that are compiled later
@org.jspecify.annotations.NullMarked
module io.bpf4j.trace {
    requires static org.jspecify;
    requires transitive io.bpf4j.usdt;
    requires io.bpf4j.objects;
    requires io.bpf4j.process;

    exports io.bpf4j.trace;
    exports io.bpf4j.trace.catalog;
    exports io.bpf4j.trace.event;
    exports io.bpf4j.trace.expression;
    exports io.bpf4j.trace.stack;
    exports io.bpf4j.trace.internal.expression to
            io.bpf4j.cli;
}
