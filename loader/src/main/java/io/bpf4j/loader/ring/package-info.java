/**
 * Events from BPF programs: {@link io.bpf4j.loader.ring.RingBuffer} reads the records that programs put into ring buffer
 * maps, straight from the memory that it shares with the kernel.
 */
package io.bpf4j.loader.ring;
