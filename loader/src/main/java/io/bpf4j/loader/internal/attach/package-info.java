/**
 * Creates a kernel link for an attach target; a failed attempt is undone in reverse order.
 *
 * <p>{@link io.bpf4j.loader.internal.attach.Attacher} delegates to one class for each of the kernel's methods to
 * attach: perf events, links of many functions, tracing, network hooks, iterators. Each class also explains the
 * kernel's errors for its targets ({@code LinkKind.refusal}).
 */
package io.bpf4j.loader.internal.attach;
