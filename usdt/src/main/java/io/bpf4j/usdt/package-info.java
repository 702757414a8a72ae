/** USDT probes: find them, attach to them, read their arguments. */
package io.bpf4j.usdt;
