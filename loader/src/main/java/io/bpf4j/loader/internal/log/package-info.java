/** The log of programs: the formats of bpf4j/log.h, and lines from records. */
package io.bpf4j.loader.internal.log;
