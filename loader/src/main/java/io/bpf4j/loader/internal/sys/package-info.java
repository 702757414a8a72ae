/**
 * System calls. {@link io.bpf4j.loader.internal.sys.Kernel} is the one seam: nothing else of bpf4j talks to Linux, and a
 * fake in its place lets everything above be tested without root.
 *
 * <p>A {@link io.bpf4j.loader.internal.sys.Command} is what is asked, a record for each call; {@code LinuxKernel} carries
 * it out through the foreign function interface; a class {@code XxxAttr} mirrors each C struct that a call takes.
 */
package io.bpf4j.loader.internal.sys;
