/**
 * The results of {@link io.bpf4j.loader.DryRun}: whether an object fits a kernel, judged by the kernel's types.
 */
@NullMarked
package io.bpf4j.loader.dryrun;

import org.jspecify.annotations.NullMarked;
