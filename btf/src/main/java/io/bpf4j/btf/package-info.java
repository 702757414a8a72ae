/** BTF type information and its extension sections. */
package io.bpf4j.btf;
