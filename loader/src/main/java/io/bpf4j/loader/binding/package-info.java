/**
 * What classes use that {@code bpf4j generate} writes: views and codecs of structs, maps of events, and the comparison
 * of an object with the class.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.loader.binding;
