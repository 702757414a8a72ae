/**
 * The compiled BPF objects that bpf4j ships.
 *
 * <p>Use it to read or load the objects of the tracer and of questions by yourself; the module {@code io.bpf4j.trace}
 * does so for you. Its only package is {@link io.bpf4j.objects}.
 */
@org.jspecify.annotations.NullMarked
module io.bpf4j.objects {
    requires static org.jspecify;

    exports io.bpf4j.objects;
}
