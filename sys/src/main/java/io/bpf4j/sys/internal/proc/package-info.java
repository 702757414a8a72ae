/** Files of {@code /proc} that several readers share. The lowest package of the system-call layer's module. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.sys.internal.proc;
