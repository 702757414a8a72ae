/** Pushes the metrics of the agent to a collector by OTLP: where to, how, and what became of each push. */
package io.bpf4j.cli.otlp;
