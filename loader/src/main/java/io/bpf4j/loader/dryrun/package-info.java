/**
 * Whether an object would fit a kernel, asked of that kernel's BTF alone: no kernel, no rights, any machine. For tools
 * that want to know which kernels they support before they ship.
 */
@NullMarked
package io.bpf4j.loader.dryrun;

import org.jspecify.annotations.NullMarked;
