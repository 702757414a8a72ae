/**
 * The contents of an object file: programs, maps, global variables, externs and relocations. The same bytes give the
 * same {@link io.bpf4j.loader.spec.ObjectSpec} on every machine; this package does not access the running kernel.
 */
package io.bpf4j.loader.spec;
