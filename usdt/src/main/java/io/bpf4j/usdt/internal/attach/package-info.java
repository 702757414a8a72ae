/** Executes a plan, and undoes it completely after a failure. */
package io.bpf4j.usdt.internal.attach;
