package io.bpf4j.loader.spec;

/** A symbol that the loader must resolve. <i>Immutable.</i> */
public sealed interface ExternSpec permits ExternSpecData {
    /** Where the loader finds an extern. */
    enum Kind {
        /** A value of the kernel's configuration, or a value that the loader supplies, such as the kernel version. */
        KCONFIG,
        /** The address of a kernel symbol without type. */
        KSYM,
        /** A kernel variable with its BTF type. */
        KSYM_TYPED,
        /** A kernel function that programs may call. */
        KFUNC
    }

    /** Where the loader looks it up. */
    Kind kind();

    /** Its name in the C source. */
    String name();

    /** Whether it may be missing: a variable then reads 0, an address is 0. */
    boolean weak();

    /** BTF type in the object: the variable's type, or the function itself. */
    int typeId();

    /** The offset of a kconfig extern in the {@code .kconfig} map, in bytes; 0 for others. */
    int offset();

    /** The size of a kconfig extern in bytes; 0 for others. */
    int size();
}

record ExternSpecData(Kind kind, String name, boolean weak, int typeId, int offset, int size) implements ExternSpec {}
