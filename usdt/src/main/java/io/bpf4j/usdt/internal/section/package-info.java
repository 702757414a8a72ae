/** Attaches programs with section names {@code usdt…}; the loader finds it as a service. */
package io.bpf4j.usdt.internal.section;
