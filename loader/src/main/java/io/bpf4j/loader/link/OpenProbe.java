package io.bpf4j.loader.link;

/**
 * A descriptor of a process that is a probe with a program: a perf event, or the link of a raw tracepoint.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code OpenProbesTest} and {@code OpenProbesOnKernelTest}.
 *
 * @param descriptor the number of the descriptor in the process
 * @param programId the kernel's id of the program
 * @param detail a {@link LinkDetail.Uprobe}, {@link LinkDetail.Kprobe}, {@link LinkDetail.Tracepoint} or {@link
 *     LinkDetail.RawTracepoint}, without cookie and semaphore, which the kernel does not report here; {@link
 *     LinkDetail.Unknown} for a kind of a newer kernel
 */
public record OpenProbe(int descriptor, int programId, LinkDetail detail) {}
