/** Probes of live programs, by each way of attaching. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.usdt;
