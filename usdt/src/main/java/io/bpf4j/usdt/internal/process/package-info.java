/** What a process has mapped, and how to open those files from here. */
package io.bpf4j.usdt.internal.process;
