/** Reads the threads, children, state and mappings of processes, opens the mapped files, and limits how much is read. */
package io.bpf4j.process;
