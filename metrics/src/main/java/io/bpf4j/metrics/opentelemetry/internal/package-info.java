/** What the SDK of OpenTelemetry has no public class for, for the producer of an answer and for the command. */
package io.bpf4j.metrics.opentelemetry.internal;
