/**
 * What an object file says: programs, maps, global variables, externs and relocations. Pure: the same bytes give the
 * same {@link io.bpf4j.loader.spec.ObjectSpec} on every machine; nothing here looks at the running kernel.
 */
package io.bpf4j.loader.spec;
