/** From an attach target to a link in the kernel: one attacher per kind of target, undone in reverse if it fails. */
package io.bpf4j.loader.internal.attach;
