/** Tracing: the tracer's BPF object, its records, readable events, and the start and end of a trace. */
package io.bpf4j.cli.trace;
