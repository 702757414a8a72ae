/**
 * System calls. All of bpf4j calls Linux only through {@link io.bpf4j.sys.internal.call.Kernel}; with a fake kernel
 * the other packages are tested without root.
 *
 * <p>A {@link io.bpf4j.sys.internal.call.Command} is a request. A record for each call contains the layout of the C
 * struct that the call takes, its encoding, and the reading of the result. {@code LinuxKernel} executes it through the
 * foreign function interface.
 *
 * <p>{@link io.bpf4j.sys.internal.call.MapTraits}, {@link io.bpf4j.sys.internal.call.ProgramTraits} and {@link
 * io.bpf4j.sys.internal.call.AttachTraits} are the tables of what kernels require of each type. {@link
 * io.bpf4j.sys.internal.call.ProcessRights} has the rights of this process.
 */
package io.bpf4j.sys.internal.call;
