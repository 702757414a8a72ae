/** Reads the threads, children and mappings of processes, and opens the mapped files. */
package io.bpf4j.process;
