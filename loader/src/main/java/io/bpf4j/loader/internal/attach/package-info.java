/** From an attach target to a link in the kernel; what a failed attempt had made is undone in reverse. */
package io.bpf4j.loader.internal.attach;
