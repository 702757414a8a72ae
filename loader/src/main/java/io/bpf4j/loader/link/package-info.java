/**
 * Targets to attach programs to, and the links that attaching returns.
 *
 * {@snippet lang = "java":
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("connects.bpf.o"))).load();
 *         Link link = object.program("on_connect").attach(Kprobe.entry("tcp_connect"))) {
 *     System.out.println(link.description());
 *     link.pin(Path.of("/sys/fs/bpf/on_connect")); // stays attached when this process ends
 * }
 * try (Link link = Links.pinned(Path.of("/sys/fs/bpf/on_connect"))) {
 *     link.unpin(Path.of("/sys/fs/bpf/on_connect")); // detached when the link is closed
 * }
 * }
 *
 * <p>An {@link io.bpf4j.loader.link.AttachTarget} names a target; {@link io.bpf4j.loader.Program#attach} returns a
 * {@link io.bpf4j.loader.link.Link}, which belongs to the caller and detaches when closed. Closing waits for the
 * kernel, tens of milliseconds for uprobes. A {@link io.bpf4j.loader.link.LinkGroup} waits for many links at once;
 * {@link io.bpf4j.loader.link.Link#closeAsync} does not wait.
 *
 * <p>The kernel reports the target of a link ({@link io.bpf4j.loader.link.LinkInfo}). The program of most links can be
 * replaced while attached. Most links can be pinned, so that they outlive the process; {@link io.bpf4j.loader.Links}
 * opens them again.
 */
package io.bpf4j.loader.link;
