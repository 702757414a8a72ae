/**
 * BPF instructions, BTF and CO-RE relocation. Pure: bytes in, values out.
 *
 * <p>Use it to read and write the types of a kernel or an object ({@link io.bpf4j.btf}), and to assemble and
 * disassemble programs ({@link io.bpf4j.insn}).
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the loader, which is compiled later
module io.bpf4j.btf {
    requires static org.jspecify;
    requires transitive io.bpf4j.elf;

    exports io.bpf4j.btf;
    exports io.bpf4j.insn;
    exports io.bpf4j.core to
            io.bpf4j.loader;
}
