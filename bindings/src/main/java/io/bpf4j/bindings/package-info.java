/**
 * Generates Java classes for BPF objects.
 *
 * {@snippet lang = "java":
 * String source = BindingsGenerator.of(ObjectSpec.read(Path.of("gc.bpf.o")), "Gc")
 *         .withPackage("org.example")
 *         .withEvent("pauses", "pause") // the records of the map pauses are struct pause
 *         .source();
 * Files.writeString(Path.of("src/main/java/org/example/Gc.java"), source);
 * }
 */
package io.bpf4j.bindings;
