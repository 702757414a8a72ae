/** From probes that fire to events a person can read: the tracer's object, its records, and what starts and ends a trace. */
package io.bpf4j.cli.trace;
