package io.bpf4j.btf;

/**
 * The kinds of BTF types, with their numbers and the sizes of what follows the 12-byte {@code struct btf_type}.
 *
 * <p>Source: {@code include/uapi/linux/btf.h}, {@code BTF_KIND_*}.
 */
public enum BtfKind {
    /** Id 0 in every BTF; never stored. */
    VOID(0, 0, 0),
    INT(1, 4, 0),
    PTR(2, 0, 0),
    ARRAY(3, 12, 0),
    STRUCT(4, 0, 12),
    UNION(5, 0, 12),
    ENUM(6, 0, 8),
    FWD(7, 0, 0),
    TYPEDEF(8, 0, 0),
    VOLATILE(9, 0, 0),
    CONST(10, 0, 0),
    RESTRICT(11, 0, 0),
    FUNC(12, 0, 0),
    FUNC_PROTO(13, 0, 8),
    VAR(14, 4, 0),
    DATASEC(15, 0, 12),
    FLOAT(16, 0, 0),
    DECL_TAG(17, 4, 0),
    TYPE_TAG(18, 0, 0),
    ENUM64(19, 0, 12);

    private static final BtfKind[] BY_NUMBER = values();

    private final int number;
    private final int fixedBytes;
    private final int elementBytes;

    BtfKind(int number, int fixedBytes, int elementBytes) {
        this.number = number;
        this.fixedBytes = fixedBytes;
        this.elementBytes = elementBytes;
    }

    /** The kernel's number. */
    public int number() {
        return number;
    }

    /** Bytes of a whole type with {@code vlen} elements, its {@code struct btf_type} included. */
    long bytes(int vlen) {
        return 12L + fixedBytes + (long) elementBytes * vlen;
    }

    /** The kind with a number that was checked. */
    static BtfKind known(int number) {
        return BY_NUMBER[number];
    }

    static int count() {
        return BY_NUMBER.length;
    }
}
