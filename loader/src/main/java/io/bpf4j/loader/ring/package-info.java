/**
 * Events from BPF programs: {@link io.bpf4j.loader.ring.RingBuffer} reads the records that programs put into ring buffer
 * maps, straight from the memory that it shares with the kernel, {@link io.bpf4j.loader.ring.PerfBuffer} those that go
 * through perf events. {@link io.bpf4j.loader.ring.UserRingBuffer} is the other direction: records for programs.
 */
package io.bpf4j.loader.ring;
