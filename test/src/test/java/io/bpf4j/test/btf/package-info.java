/** The running kernel's BTF. */
@org.jspecify.annotations.NullMarked
package io.bpf4j.test.btf;
