/**
 * Integration tests: real programs, the running kernel, all modules together. Most need root; each says what it needs
 * by {@link io.bpf4j.test.support.Requires}. They are sorted by what they are about; this package itself is empty.
 */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test;
