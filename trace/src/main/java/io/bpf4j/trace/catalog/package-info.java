/**
 * The meaning of the arguments of well-known USDT probes, and ready questions about these probes.
 *
 * <p>The note of a probe has the size and the place of each argument, and no name: the declarations are in the source
 * of the traced program. {@link io.bpf4j.trace.catalog.Catalog} has them, from text files that a person can write.
 */
package io.bpf4j.trace.catalog;
