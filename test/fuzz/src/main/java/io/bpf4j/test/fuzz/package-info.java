/** Looks for inputs that a parser fails on, guided by the code that they reach, and counts what a parser does. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.fuzz;
