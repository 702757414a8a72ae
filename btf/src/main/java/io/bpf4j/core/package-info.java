/**
 * CO-RE, "compile once, run everywhere": fits instructions compiled against one kernel's types to another's.
 *
 * <p>{@link CoreRelocator} has the whole story. Pure: it needs the types of both sides and no kernel.
 */
@NullMarked
package io.bpf4j.core;

import org.jspecify.annotations.NullMarked;
