/**
 * The features of the running kernel. {@link io.bpf4j.loader.feature.Features} probes each {@link
 * io.bpf4j.sys.kernel.Feature} in the kernel once, on the first request. Versions are unreliable, because
 * distributions backport and disable features.
 */
package io.bpf4j.loader.feature;
