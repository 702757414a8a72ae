/** Pushes the metrics of the agent to a collector by OTLP: the settings, the sender, and the outcome of each push. */
package io.bpf4j.cli.otlp;
