/** The command as a black box. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.cli;
