/**
 * Types for the classes that {@code bpf4j generate} writes: views and codecs of structs, maps of events, and the
 * comparison of an object with its class.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.loader.binding;
