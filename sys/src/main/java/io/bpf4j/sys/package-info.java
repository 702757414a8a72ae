/**
 * The machine that bpf4j works on, as one object ({@link io.bpf4j.sys.Host}), the rights of this process on it, and the
 * base of all errors ({@link io.bpf4j.sys.BpfException}).
 */
package io.bpf4j.sys;
