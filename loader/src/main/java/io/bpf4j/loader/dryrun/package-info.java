/**
 * What {@link io.bpf4j.loader.DryRun} finds: whether an object would fit a kernel, asked of that kernel's BTF alone.
 */
@NullMarked
package io.bpf4j.loader.dryrun;

import org.jspecify.annotations.NullMarked;
