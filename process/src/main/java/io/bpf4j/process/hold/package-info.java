/**
 * Stops processes by ptrace when code is mapped into them, so that no code runs before it is probed; starts commands
 * that wait; and continues processes that a BPF program has paused. Also restores ignored signals for a tracer started in
 * a script.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.process.hold;
