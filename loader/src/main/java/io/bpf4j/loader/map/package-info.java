/**
 * Access to BPF maps: {@link io.bpf4j.loader.map.BpfMap} in bytes, {@link io.bpf4j.loader.map.TypedMap} in Java values
 * through a {@link io.bpf4j.loader.map.Codec}, {@link io.bpf4j.loader.map.Global} for the global variables of a
 * program, and views of map types that are not tables: {@link io.bpf4j.loader.map.QueueMap}, {@link
 * io.bpf4j.loader.map.BloomFilterMap}, {@link io.bpf4j.loader.map.MapOfMaps}, {@link
 * io.bpf4j.loader.map.StackTraceMap}.
 */
package io.bpf4j.loader.map;
