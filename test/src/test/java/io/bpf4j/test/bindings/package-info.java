/** Classes that are generated for BPF objects: they compile without a warning, and are right on the running kernel. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.bindings;
