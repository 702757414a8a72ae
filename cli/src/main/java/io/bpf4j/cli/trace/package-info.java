/** Tracing: events as lines, options that traces share, signals, and the end of a trace. */
package io.bpf4j.cli.trace;
