/**
 * From an attach target to a link in the kernel; what a failed attempt had made is undone in reverse.
 *
 * <p>{@link io.bpf4j.loader.internal.attach.Attacher} looks at the target and leaves the work to one class for each way
 * that the kernel has: perf events, links of many functions, tracing, the hooks of the network, iterators. What refused
 * calls mean is in one place, {@code Refusals}.
 */
package io.bpf4j.loader.internal.attach;
