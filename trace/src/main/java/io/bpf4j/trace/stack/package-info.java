/**
 * Stacks: from addresses to names of functions, and pictures of many stacks. {@link
 * io.bpf4j.trace.stack.Symbolizer} names the frames of one stack, {@link io.bpf4j.trace.stack.StackCounts} counts
 * stacks and writes them as folded lines or as a flame graph.
 */
package io.bpf4j.trace.stack;
