/**
 * Information that Linux exports in files: its version and configuration, CPUs, tracefs, sources of perf events,
 * symbols. Each reader takes the root of a directory tree, so that tests give it a fixture.
 */
package io.bpf4j.sys.internal.linux;
