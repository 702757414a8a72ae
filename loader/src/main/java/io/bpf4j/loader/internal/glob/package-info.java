/** Patterns for names and text, for all modules above. It uses no other package of the module. */
package io.bpf4j.loader.internal.glob;
