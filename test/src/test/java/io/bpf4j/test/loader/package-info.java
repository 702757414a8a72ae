/** Objects, maps, rings, programs and links on the running kernel. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.loader;
