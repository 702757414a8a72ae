/**
 * Information that Linux exports in files: its configuration, CPUs, sources of perf events, symbols, whether BPF is
 * compiled, pid namespaces. Each reader takes a {@link io.bpf4j.sys.Host}, so that tests give it a fixture.
 */
package io.bpf4j.sys.internal.linux;
