/** How text is read that ends with NUL, as in string tables and names of the kernel. It uses no other package. */
package io.bpf4j.elf.internal.text;
