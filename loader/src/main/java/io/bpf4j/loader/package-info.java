/**
 * Loads the maps and programs of an object file into the kernel, and attaches the programs.
 *
 * {@snippet lang = "java":
 * ObjectSpec spec = ObjectSpec.read(Path.of("connects.bpf.o"));
 * try (BpfObject object = BpfLoader.of(spec).global("target_pid", 42).load();
 *         LinkGroup _ = object.attachAll();
 *         RingBuffer events = RingBuffer.open(object.map("events"))) {
 *     while (events.poll(Duration.ofSeconds(10), Codec.ofLong(), event -> System.out.println(event)) > 0) {}
 * }
 * }
 *
 * <p>Three steps, three types: an {@link io.bpf4j.loader.spec.ObjectSpec} describes a file and never changes; a {@link
 * io.bpf4j.loader.BpfLoader} collects changes to it and loads it once; a {@link io.bpf4j.loader.BpfObject} owns the
 * maps and programs in the kernel. Load and attach are transactions: if a step fails, nothing stays loaded or attached,
 * and an exception of {@link io.bpf4j.loader.error} says which step failed, why, and what to do.
 *
 * <p>Another module can add its own kind of program through {@link io.bpf4j.loader.SectionAttacher} and {@link
 * io.bpf4j.loader.ObjectExtension}. The USDT module does so.
 */
package io.bpf4j.loader;
