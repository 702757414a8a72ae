/**
 * What goes wrong, one unchecked type for each thing that a caller does differently about it.
 *
 * <p>{@link io.bpf4j.loader.error.BpfException} is the root. Every message says what failed, on which thing, why, and
 * where it is known, what to do. The exceptions are <i>immutable</i>.
 */
package io.bpf4j.loader.error;
