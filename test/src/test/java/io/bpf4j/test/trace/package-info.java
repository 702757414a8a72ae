/** Questions about live programs. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.trace;
