/** A Maven plugin: C sources to BPF objects, and BPF objects to Java classes. */
@NullMarked
package io.bpf4j.maven;

import org.jspecify.annotations.NullMarked;
