package io.bpf4j.loader.spec;

/**
 * A symbol that the loader must resolve. <i>Immutable.</i>
 *
 * @param kind where the loader looks it up
 * @param name in the C source
 * @param weak whether it may be missing: a variable then reads 0, an address is 0
 * @param typeId BTF type in the object: the variable's type, or the function itself
 * @param offset of a kconfig extern in the {@code .kconfig} map, in bytes; 0 for others
 * @param size of a kconfig extern in bytes; 0 for others
 */
public record ExternSpec(Kind kind, String name, boolean weak, int typeId, int offset, int size) {
    /** Where the loader finds an extern. */
    public enum Kind {
        /** A value of the kernel's configuration, or a value that the loader supplies, such as the kernel version. */
        KCONFIG,
        /** The address of a kernel symbol without type. */
        KSYM,
        /** A kernel variable with its BTF type. */
        KSYM_TYPED,
        /** A kernel function that programs may call. */
        KFUNC
    }
}
