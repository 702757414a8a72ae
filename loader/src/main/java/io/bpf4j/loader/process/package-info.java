/**
 * Processes that are held, by ptrace, at the moments when code appears in them, so that nothing runs before it is probed;
 * and the ignored signals that a tracer started in a script has to take back.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.loader.process;
