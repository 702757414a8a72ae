/** What tells apart the symbols of one name. It uses the package of {@link io.bpf4j.elf.ElfFile}. */
package io.bpf4j.elf.internal.symbol;
