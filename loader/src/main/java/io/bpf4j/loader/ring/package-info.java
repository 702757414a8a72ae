/**
 * Events from BPF programs: {@link io.bpf4j.loader.ring.RingBuffer} reads the records of ring buffer maps, directly
 * from memory shared with the kernel. {@link io.bpf4j.loader.ring.PerfBuffer} reads the records of perf events. {@link
 * io.bpf4j.loader.ring.UserRingBuffer} writes records for programs.
 */
package io.bpf4j.loader.ring;
