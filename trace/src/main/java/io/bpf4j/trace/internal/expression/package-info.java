/**
 * Compiles expressions over the values of a probe to BPF.
 *
 * <p>Compilation has three steps. {@link io.bpf4j.trace.internal.expression.Expression#parse} parses the text to a tree,
 * in which nothing has a type yet. A {@link io.bpf4j.trace.internal.expression.Scope} says what the names mean for the
 * probes of a question, which gives each part a type. {@link io.bpf4j.trace.internal.expression.GeneratedFunction} is the
 * body of a BPF function that evaluates the typed tree. The package needs neither the kernel nor the machine that the
 * question is for.
 */
package io.bpf4j.trace.internal.expression;
