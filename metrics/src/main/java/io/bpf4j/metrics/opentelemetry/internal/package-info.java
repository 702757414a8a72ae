/** Classes that the SDK of OpenTelemetry does not export, for the producer of an answer and for the command. */
package io.bpf4j.metrics.opentelemetry.internal;
