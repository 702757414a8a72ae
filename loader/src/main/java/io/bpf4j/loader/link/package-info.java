/**
 * Where programs attach, and the links that attaching gives.
 *
 * <p>An {@link io.bpf4j.loader.link.AttachTarget} names a place; {@link io.bpf4j.loader.Program#attach} gives a {@link
 * io.bpf4j.loader.link.Link}, which belongs to whoever attached and detaches when closed. Closing waits for the kernel,
 * tens of milliseconds for uprobes; a {@link io.bpf4j.loader.link.LinkGroup} waits for many at once, and {@link
 * io.bpf4j.loader.link.Link#closeAsync} for none.
 *
 * <p>What a link is attached to, the kernel tells ({@link io.bpf4j.loader.link.LinkInfo}). Most can be given another
 * program while they run, and pinned, so that they outlive the process; {@link io.bpf4j.loader.Links} opens them again.
 */
package io.bpf4j.loader.link;
