/** The small JVM that {@code bpf4j demo} traces. */
package io.bpf4j.cli.demo;
