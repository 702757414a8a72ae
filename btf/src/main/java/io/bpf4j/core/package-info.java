/**
 * CO-RE, "compile once, run everywhere": adjusts instructions compiled with one kernel's types to another kernel's
 * types.
 *
 * <p>{@link CoreRelocator} describes the algorithm. Pure: it needs the types of both sides, not a running kernel.
 */
@NullMarked
package io.bpf4j.core;

import org.jspecify.annotations.NullMarked;
