/**
 * Kernel maps: {@link io.bpf4j.loader.internal.map.KernelMap} implements the public {@link io.bpf4j.loader.map.BpfMap},
 * and gives the loader access to a map's file descriptor and memory.
 */
package io.bpf4j.loader.internal.map;
