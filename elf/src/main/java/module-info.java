/**
 * A hand-written, bounds-checked reader of ELF files. Pure: no system call, no native access.
 *
 * <p>Use it to read sections, symbols, notes and build IDs of programs and libraries that need not be trusted. Begin
 * with {@link io.bpf4j.elf.ElfFile} in {@link io.bpf4j.elf}, the only package.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // modules that are compiled later
module io.bpf4j.elf {
    requires static transitive org.jspecify;
    // For compressed files. A program that reads none can leave it out, with all that it requires.
    requires static org.apache.commons.compress;

    exports io.bpf4j.elf;
    exports io.bpf4j.elf.internal.compression to
            io.bpf4j.btf;
    exports io.bpf4j.elf.internal.symbol to
            io.bpf4j.loader;
    exports io.bpf4j.elf.internal.text to
            io.bpf4j.btf,
            io.bpf4j.sys,
            io.bpf4j.loader,
            io.bpf4j.process,
            io.bpf4j.usdt,
            io.bpf4j.trace,
            io.bpf4j.cli;
}
