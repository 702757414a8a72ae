/**
 * The features, types and helpers of the running kernel. {@link io.bpf4j.loader.feature.Features} probes each {@link
 * io.bpf4j.sys.kernel.KernelFeature} on the first request, and keeps a certain result. Versions are unreliable, because
 * distributions backport and disable features.
 *
 * {@snippet lang = "java":
 * Features kernel = Features.ofRunningKernel();
 * switch (kernel.support(Feature.UPROBE_MULTI_LINK)) {
 *     case Support.Present present -> System.out.println("yes: " + present.reason());
 *     case Support.Absent absent -> System.out.println("no: " + absent.reason());
 *     case Support.Unknown unknown -> System.out.println("unknown: " + unknown.reason()); // missing rights, mostly
 * }
 * }
 */
package io.bpf4j.loader.feature;
