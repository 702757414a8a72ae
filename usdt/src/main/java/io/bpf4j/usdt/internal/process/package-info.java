/** Reads the mappings of processes and opens the mapped files. */
package io.bpf4j.usdt.internal.process;
