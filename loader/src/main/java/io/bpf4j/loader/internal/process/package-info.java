/** Holds processes with ptrace, and with a BPF program that stops a process at a function. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.loader.internal.process;
