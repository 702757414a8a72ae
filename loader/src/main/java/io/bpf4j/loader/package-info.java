/**
 * From an object file to maps and programs in the kernel, and back out again.
 *
 * <pre>{@code
 * ObjectSpec spec = ObjectSpec.read(Path.of("gc.bpf.o"));
 * try (BpfObject object = BpfLoader.of(spec).global("target_pid", 42).load();
 *      LinkGroup links = object.attachAll();
 *      RingBuffer ring = RingBuffer.open(object.map("events"))) { … }
 * }</pre>
 *
 * <p>Three steps, three types: an {@link io.bpf4j.loader.spec.ObjectSpec} is what a file says and never changes; a {@link
 * io.bpf4j.loader.BpfLoader} collects what is to differ from it and loads once; a {@link io.bpf4j.loader.BpfObject} is
 * what is in the kernel, and owns it. Load and attach are transactions: all of it, or nothing and an exception of {@link
 * io.bpf4j.loader.error} that says which thing failed, why, and what to do.
 *
 * <p>{@link io.bpf4j.loader.SectionAttacher} and {@link io.bpf4j.loader.ObjectExtension} are how another module brings a
 * kind of program of its own, as the USDT module does.
 */
package io.bpf4j.loader;
