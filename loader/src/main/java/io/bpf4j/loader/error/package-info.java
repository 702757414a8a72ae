/**
 * Exceptions of the loader: one unchecked type for each failure that a caller may handle differently.
 *
 * <p>{@link io.bpf4j.sys.BpfException} is the base class. Every message says what failed, for which object,
 * why, and, if known, what to do. The exceptions are <i>immutable</i>.
 */
package io.bpf4j.loader.error;
