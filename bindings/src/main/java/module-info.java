/**
 * Writes a Java class for a BPF object: its maps, programs, variables and types by name.
 *
 * <p>Use it when a program is built, in place of the command {@code bpf4j generate}; the written class itself needs
 * {@code io.bpf4j.loader} only. Its only package is {@link io.bpf4j.bindings}.
 */
@SuppressWarnings("requires-automatic") // JavaPoet has the name of its module in its manifest only
@org.jspecify.annotations.NullMarked
module io.bpf4j.bindings {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;
    requires com.palantir.javapoet;
    requires java.compiler; // the modifiers of JavaPoet

    exports io.bpf4j.bindings;
}
