/** Judges the plan of a load by the types of the kernel that it is for. */
package io.bpf4j.loader.internal.dryrun;
