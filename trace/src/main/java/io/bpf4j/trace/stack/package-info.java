/**
 * Names the functions of stacks, and shows many stacks at once. {@link io.bpf4j.trace.stack.Symbolizer} names the
 * frames of one stack. {@link io.bpf4j.trace.stack.StackCounts} counts stacks and writes them as folded lines or as a
 * flame graph.
 */
package io.bpf4j.trace.stack;
