/**
 * The meaning of the arguments of well-known USDT probes, and ready questions about these probes.
 *
 * {@snippet lang = "java":
 * Catalog catalog = Catalog.builtIn(); // with(Catalog.read(file)) adds one's own
 * ProbeSignature probe = catalog.find("hotspot", "class__loaded").orElseThrow();
 * for (ProbeArgument argument : probe.arguments()) {
 *     System.out.println(argument.index() + " " + argument.name() + ": " + argument.type());
 * }
 * for (ReadyQuestion question : catalog.questions("jvm")) {
 *     System.out.println(question.name() + ": " + question.description());
 * }
 * }
 *
 * <p>The note of a probe has the size and the place of each argument, and no name: the declarations are in the source
 * of the traced program. {@link io.bpf4j.trace.catalog.Catalog} has them, from text files that a person can write.
 */
package io.bpf4j.trace.catalog;
