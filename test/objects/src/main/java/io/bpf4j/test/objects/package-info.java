/** BPF objects to test with. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.objects;
