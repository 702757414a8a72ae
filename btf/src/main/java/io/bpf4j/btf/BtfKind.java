package io.bpf4j.btf;

import java.util.Optional;

/**
 * The kinds of BTF types, with their numbers and the sizes of what follows the 12-byte {@code struct btf_type}.
 *
 * <p>Source: {@code include/uapi/linux/btf.h}, {@code BTF_KIND_*}.
 */
public enum BtfKind {
    /** Id 0 in every BTF; never stored. */
    VOID(0, 0, 0, "4.18"),
    INT(1, 4, 0, "4.18"),
    PTR(2, 0, 0, "4.18"),
    ARRAY(3, 12, 0, "4.18"),
    STRUCT(4, 0, 12, "4.18"),
    UNION(5, 0, 12, "4.18"),
    ENUM(6, 0, 8, "4.18"),
    FWD(7, 0, 0, "4.18"),
    TYPEDEF(8, 0, 0, "4.18"),
    VOLATILE(9, 0, 0, "4.18"),
    CONST(10, 0, 0, "4.18"),
    RESTRICT(11, 0, 0, "4.18"),
    FUNC(12, 0, 0, "5.0"),
    FUNC_PROTO(13, 0, 8, "5.0"),
    VAR(14, 4, 0, "5.2"),
    DATASEC(15, 0, 12, "5.2"),
    FLOAT(16, 0, 0, "5.13"),
    DECL_TAG(17, 4, 0, "5.16"),
    TYPE_TAG(18, 0, 0, "5.17"),
    ENUM64(19, 0, 12, "6.0");

    private static final BtfKind[] BY_NUMBER = values();

    private final int number;
    private final int fixedBytes;
    private final int elementBytes;
    private final String since;

    BtfKind(int number, int fixedBytes, int elementBytes, String since) {
        this.number = number;
        this.fixedBytes = fixedBytes;
        this.elementBytes = elementBytes;
        this.since = since;
    }

    /** The kernel's number. */
    public int number() {
        return number;
    }

    /** The first kernel version with this kind, such as {@code 5.13}. */
    public String since() {
        return since;
    }

    /** Bytes of a whole type with {@code vlen} elements, its {@code struct btf_type} included. */
    long bytes(int vlen) {
        return 12L + fixedBytes + (long) elementBytes * vlen;
    }

    /** The kind with that number, if this library knows it. */
    public static Optional<BtfKind> of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? Optional.of(BY_NUMBER[number]) : Optional.empty();
    }

    /** Like {@link #of}, for checked numbers. */
    static BtfKind known(int number) {
        return BY_NUMBER[number];
    }

    static int count() {
        return BY_NUMBER.length;
    }
}
