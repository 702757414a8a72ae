package io.bpf4j.elf;

/**
 * An entry of a relocation table: a place to patch, the symbol whose value is used, and the kind of patch.
 * <i>Immutable.</i>
 *
 * @param offset the place: in a relocatable file an offset in the target section, else a virtual address
 * @param type kind of patch, a number specific to the machine, such as 1 = R_BPF_64_64
 * @param symbolIndex index in the symbol table that the relocation section's {@code link} names; 0 if no symbol is
 *     needed
 * @param addend to add to the symbol's value; 0 if the table has no addends ({@code SHT_REL})
 * @param hasAddend whether the table states addends ({@code SHT_RELA}); if not, the addend is stored at the place to
 *     patch
 */
public record Relocation(long offset, int type, int symbolIndex, long addend, boolean hasAddend) {}
