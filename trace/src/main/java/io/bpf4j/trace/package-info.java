/**
 * Questions about running programs, compiled to BPF: the program counts and sums in the kernel, and Java reads the
 * result.
 */
package io.bpf4j.trace;
