/** The compiled BPF objects that bpf4j ships. */
@org.jspecify.annotations.NullMarked
module io.bpf4j.objects {
    requires static org.jspecify;

    exports io.bpf4j.objects;
}
