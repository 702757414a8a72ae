/**
 * JMH benchmarks of what a user waits for. {@link io.bpf4j.benchmarks.Main} runs them and sets their times beside those
 * of the C harness in {@code benchmarks/libbpf}, which drives libbpf and the bare system calls through the same work.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.benchmarks;
