/**
 * Questions about running programs, compiled to BPF: the program counts and sums in the kernel, and Java reads the
 * result; or it passes on events, with the values of expressions or with all arguments.
 */
package io.bpf4j.trace;
