package io.bpf4j.loader.spec;

/**
 * Something that the object leaves to the loader to find. <i>Immutable.</i>
 *
 * @param kind where to look
 * @param name in the C source
 * @param weak whether the object can do without: a variable then reads 0, an address is 0
 * @param typeId BTF type in the object: of the variable, or the function itself
 * @param offset of a kconfig extern in the {@code .kconfig} map, in bytes; 0 for others
 * @param size of a kconfig extern in bytes; 0 for others
 */
public record ExternSpec(Kind kind, String name, boolean weak, int typeId, int offset, int size) {
    /** Where an extern is to be found. */
    public enum Kind {
        /** A value of the kernel's configuration, or one that only loaders know, such as its version. */
        KCONFIG,
        /** The address of a kernel symbol, of no known type. */
        KSYM,
        /** A kernel variable with its BTF type. */
        KSYM_TYPED,
        /** A kernel function that programs may call. */
        KFUNC
    }
}
