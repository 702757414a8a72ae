/**
 * Integration tests: real programs, the running kernel, all modules together. Most need root; each says what it needs
 * by {@link io.bpf4j.test.support.Requires}.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test;
