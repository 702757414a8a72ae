/** What integration tests share: requirements, programs to probe, and the check that nothing is left open. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.support;
