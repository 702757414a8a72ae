/**
 * Maps as the kernel has them: {@link io.bpf4j.loader.internal.map.KernelMap} is what stands behind the public
 * {@link io.bpf4j.loader.map.BpfMap}, and is where the loader gets at a map's descriptor and memory.
 */
package io.bpf4j.loader.internal.map;
