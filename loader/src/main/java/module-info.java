/** Loads BPF objects into the kernel. The only module that makes native calls. */
@org.jspecify.annotations.NullMarked
module io.bpf4j.loader {
    requires static org.jspecify;
    requires transitive io.bpf4j.btf;
}
