/**
 * Small expressions over what a probe gives, compiled to BPF: {@code arg0 > 50 && comm ~ "java*"}.
 *
 * <p>An expression takes three steps. {@link io.bpf4j.trace.expression.Expression#parse} makes a tree of the text, in
 * which nothing has a type yet. A {@link io.bpf4j.trace.expression.Scope} says what the names mean for the probes of a
 * question; with it each part gets a type. {@link io.bpf4j.trace.expression.GeneratedFunction} is the body of a BPF
 * function that evaluates the result. None of this knows the kernel or the machine.
 */
package io.bpf4j.trace.expression;
