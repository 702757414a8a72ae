/**
 * The machine and its kernel: system calls, the files in {@code /proc} and {@code /sys}, errors and rights. The only
 * module that makes native calls.
 *
 * <p>It is part of the modules that load and attach, and not used alone. {@link io.bpf4j.sys} has the base class of
 * their exceptions and the machine that they work on; {@link io.bpf4j.sys.kernel} has the kernel's own names.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // modules that are compiled later
module io.bpf4j.sys {
    requires static transitive org.jspecify;
    requires transitive io.bpf4j.btf;

    exports io.bpf4j.sys;
    exports io.bpf4j.sys.kernel;
    exports io.bpf4j.sys.internal.call to
            io.bpf4j.loader,
            io.bpf4j.process;
    exports io.bpf4j.sys.internal.linux to
            io.bpf4j.loader,
            io.bpf4j.process,
            io.bpf4j.trace;
    exports io.bpf4j.sys.internal.proc to
            io.bpf4j.loader,
            io.bpf4j.process,
            io.bpf4j.trace,
            io.bpf4j.cli;
    exports io.bpf4j.sys.internal.thread to
            io.bpf4j.loader,
            io.bpf4j.usdt,
            io.bpf4j.trace,
            io.bpf4j.cli;
}
