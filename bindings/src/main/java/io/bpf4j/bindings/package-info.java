/** Generates Java classes for BPF objects. */
package io.bpf4j.bindings;
