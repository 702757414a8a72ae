/** Events of probes with all their arguments, as {@link io.bpf4j.trace.EventStream} hands them out. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.trace.event;
