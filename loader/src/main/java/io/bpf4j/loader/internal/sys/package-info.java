/**
 * System calls. All of bpf4j calls Linux only through {@link io.bpf4j.loader.internal.sys.Kernel}; with a fake kernel
 * the other packages are tested without root.
 *
 * <p>A {@link io.bpf4j.loader.internal.sys.Command} is a request, with a record for each call; {@code LinuxKernel}
 * executes it through the foreign function interface; a class {@code XxxAttr} mirrors each C struct that a call takes.
 */
package io.bpf4j.loader.internal.sys;
