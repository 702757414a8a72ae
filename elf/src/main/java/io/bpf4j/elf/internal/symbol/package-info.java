/** The versions that distinguish symbols with the same name. It uses the package of {@link io.bpf4j.elf.ElfFile}. */
package io.bpf4j.elf.internal.symbol;
