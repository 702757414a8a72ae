/** Writes a Java class for a BPF object: its maps, programs, variables and types by name. */
@SuppressWarnings("requires-automatic") // JavaPoet has the name of its module in its manifest only
@org.jspecify.annotations.NullMarked
module io.bpf4j.bindings {
    requires static org.jspecify;
    requires transitive io.bpf4j.loader;
    requires com.palantir.javapoet;
    requires java.compiler; // the modifiers of JavaPoet

    exports io.bpf4j.bindings;
}
