/**
 * What the running kernel can do. {@link io.bpf4j.loader.feature.Features} answers for each
 * {@link io.bpf4j.loader.kernel.Feature} by trying it in the kernel, once, when first asked: versions lie, since
 * distributions carry features back and switch them off.
 */
package io.bpf4j.loader.feature;
