/** Checks the plan of a load against the types of its target kernel. */
package io.bpf4j.loader.internal.dryrun;
