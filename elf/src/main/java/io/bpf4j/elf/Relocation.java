package io.bpf4j.elf;

/**
 * An entry of a relocation table: a place to patch, the symbol to patch it with, and how. <i>Immutable.</i>
 *
 * @param offset the place: in a relocatable file an offset in the target section, else a virtual address
 * @param type how, by the numbers of the machine, such as 1 = R_BPF_64_64
 * @param symbolIndex index in the symbol table that the relocation section's {@code link} names; 0 if none is needed
 * @param addend to add to the symbol's value; 0 where the table has none ({@code SHT_REL})
 * @param hasAddend whether the table states addends ({@code SHT_RELA}); if not, the addend is in the place itself
 */
public record Relocation(long offset, int type, int symbolIndex, long addend, boolean hasAddend) {}
