/**
 * Access to BPF maps: {@link io.bpf4j.loader.map.BpfMap} in bytes, {@link io.bpf4j.loader.map.TypedMap} in Java values
 * through a {@link io.bpf4j.loader.map.Codec}, {@link io.bpf4j.loader.map.Global} for the global variables of a
 * program, and views of map types that are not tables: {@link io.bpf4j.loader.map.QueueMap}, {@link
 * io.bpf4j.loader.map.BloomFilterMap}, {@link io.bpf4j.loader.map.MapOfMaps}, {@link
 * io.bpf4j.loader.map.StackTraceMap}.
 *
 * {@snippet lang = "java":
 * try (BpfObject object = BpfLoader.of(ObjectSpec.read(Path.of("ports.bpf.o"))).load()) {
 *     TypedMap<Integer, Long> counts = TypedMap.of(object.map("counts"), Codec.ofUnsignedShort(), Codec.ofLong());
 *     counts.put(8080, 0L);
 *     object.global("enabled").setBoolean(true);
 *     counts.forEach((port, count) -> System.out.println("port " + port + ": " + count));
 * }
 * }
 */
package io.bpf4j.loader.map;
