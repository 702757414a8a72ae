/** Runs tests again and again, to find those that fail now and then: {@code test/again}. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.again;
