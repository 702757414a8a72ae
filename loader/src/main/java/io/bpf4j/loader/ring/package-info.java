/**
 * Events from BPF programs: {@link io.bpf4j.loader.ring.RingBuffer} reads the records of ring buffer maps, directly
 * from memory shared with the kernel. {@link io.bpf4j.loader.ring.PerfBuffer} reads the records of perf events. {@link
 * io.bpf4j.loader.ring.UserRingBuffer} writes records for programs.
 *
 * {@snippet lang = "java":
 * record Connect(int pid, int port) {} // struct connect of the object
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("connects.bpf.o"))).load();
 *         LinkGroup _ = object.attachAll();
 *         RingBuffer events = RingBuffer.open(object.map("events"))) {
 *     Codec<Connect> codec = object.codec(Connect.class, "connect");
 *     while (events.poll(Duration.ofSeconds(10), codec, connect -> System.out.println(connect.port())) > 0) {}
 *     System.out.println(events.stats());
 * }
 * }
 */
package io.bpf4j.loader.ring;
