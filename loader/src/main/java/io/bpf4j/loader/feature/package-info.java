/**
 * The features, types and helpers of the running kernel. {@link io.bpf4j.loader.feature.Features} probes each {@link
 * io.bpf4j.sys.kernel.Facility} on the first request, and keeps a certain result. Versions are unreliable, because
 * distributions backport and disable features.
 */
package io.bpf4j.loader.feature;
