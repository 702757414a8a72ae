/**
 * The machine that bpf4j works on, as one object ({@link io.bpf4j.sys.Host}); the base of the errors of loading and
 * attaching ({@link io.bpf4j.sys.BpfException}), and what a caller must know although it is no failure ({@link
 * io.bpf4j.sys.Diagnostic}).
 */
package io.bpf4j.sys;
