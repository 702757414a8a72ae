/** The tracing file system of the kernel. */
package io.bpf4j.loader.internal.tracefs;
