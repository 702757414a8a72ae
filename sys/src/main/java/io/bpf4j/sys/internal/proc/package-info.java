/** How files of {@code /proc} are read whose names others choose. It uses no other package of the module. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.sys.internal.proc;
