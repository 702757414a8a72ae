package io.bpf4j.elf;

/**
 * An entry of a symbol table. <i>Immutable</i>; it stays valid after the file is closed.
 *
 * <p>{@code sectionIndex} is a true section index, however large, or one of the negative numbers {@link #SHN_ABS} and
 * {@link #SHN_COMMON}. The file has these reserved values as 0xfff1 and 0xfff2, which are ordinary indices in a file of
 * more than 65,000 sections; sign-extending the reserved ones keeps the two apart.
 *
 * @param index place in its table, from 0; relocations refer to it
 * @param name may be empty, usually for a section symbol. A byte that is not UTF-8 is a lone surrogate, U+DC00 plus the
 *     byte
 * @param value in a relocatable file an offset in its section, else a virtual address
 * @param size bytes, 0 if unknown
 * @param type {@link #STT_FUNC} or another {@code STT_} constant
 * @param binding {@link #STB_GLOBAL} or another {@code STB_} constant
 * @param visibility {@link #STV_DEFAULT} or another {@code STV_} constant
 * @param sectionIndex the section that it is defined in; {@link #SHN_UNDEF} if it isn't defined here
 */
public record Symbol(
        long index, String name, long value, long size, int type, int binding, int visibility, int sectionIndex) {
    public static final int STT_NOTYPE = 0;
    public static final int STT_OBJECT = 1;
    public static final int STT_FUNC = 2;
    public static final int STT_SECTION = 3;
    public static final int STT_GNU_IFUNC = 10;

    public static final int STB_LOCAL = 0;
    public static final int STB_GLOBAL = 1;
    public static final int STB_WEAK = 2;

    public static final int STV_DEFAULT = 0;
    public static final int STV_INTERNAL = 1;
    public static final int STV_HIDDEN = 2;

    public static final int SHN_UNDEF = 0;
    /** Absolute: the value belongs to no section. 0xfff1 in the file. */
    public static final int SHN_ABS = -15;
    /** Common: storage that the linker will place. 0xfff2 in the file. */
    public static final int SHN_COMMON = -14;

    /** Whether it is defined in this file: in a section, absolute or common. */
    public boolean isDefined() {
        return sectionIndex != SHN_UNDEF;
    }

    /** Whether it is defined in a section of this file. */
    public boolean isInSection() {
        return sectionIndex > SHN_UNDEF;
    }

    public boolean isFunction() {
        return type == STT_FUNC;
    }

    public boolean isLocal() {
        return binding == STB_LOCAL;
    }

    public boolean isWeak() {
        return binding == STB_WEAK;
    }

    /** Whether it is not visible outside this file's module although it is not local: hidden, or internal. */
    public boolean isHidden() {
        return visibility == STV_HIDDEN || visibility == STV_INTERNAL;
    }
}
