package io.bpf4j.core;

import java.util.Optional;

/**
 * The property of a type that an instruction depends on.
 *
 * <p>Source: {@code enum bpf_core_relo_kind} of {@code include/uapi/linux/bpf.h}; meaning: {@code
 * Documentation/bpf/llvm_reloc.rst}.
 */
public enum CoreRelocationKind {
    /** Offset of a field, in bytes. */
    FIELD_BYTE_OFFSET(0, Subject.FIELD, "byte offset"),
    /** Size of a field, in bytes. */
    FIELD_BYTE_SIZE(1, Subject.FIELD, "byte size"),
    /** 1 if the field exists, else 0. */
    FIELD_EXISTS(2, Subject.FIELD, "existence"),
    /** 1 if the field is signed, else 0. */
    FIELD_SIGNED(3, Subject.FIELD, "signedness"),
    /** Left shift of a bit-field in 64 bits, to drop the bits above it. */
    FIELD_LSHIFT_U64(4, Subject.FIELD, "left shift"),
    /** Right shift after the left shift, to drop the bits below it. */
    FIELD_RSHIFT_U64(5, Subject.FIELD, "right shift"),
    /** Id of a type in the object's own BTF. */
    TYPE_ID_LOCAL(6, Subject.TYPE, "local type id"),
    /** Id of a type in the target's BTF; 0 if it does not exist. */
    TYPE_ID_TARGET(7, Subject.TYPE, "target type id"),
    /** 1 if the type exists, else 0. */
    TYPE_EXISTS(8, Subject.TYPE, "existence"),
    /** Size of a type in bytes; 0 if it does not exist. */
    TYPE_SIZE(9, Subject.TYPE, "size"),
    /** 1 if the enumeration has a value of that name, else 0. */
    ENUMVAL_EXISTS(10, Subject.ENUM_VALUE, "existence"),
    /** The number of a name in an enumeration. */
    ENUMVAL_VALUE(11, Subject.ENUM_VALUE, "value"),
    /** 1 if the type exists and has at least the members of the program's type, else 0. Since clang 15. */
    TYPE_MATCHES(12, Subject.TYPE, "match");

    /** The subject of a relocation. */
    enum Subject {
        FIELD,
        TYPE,
        ENUM_VALUE
    }

    private static final CoreRelocationKind[] BY_NUMBER = values();

    private final int number;
    private final Subject subject;
    private final String text;

    CoreRelocationKind(int number, Subject subject, String text) {
        this.number = number;
        this.subject = subject;
        this.text = text;
    }

    /** The kernel's number. */
    public int number() {
        return number;
    }

    Subject subject() {
        return subject;
    }

    /** A description for messages. */
    public String text() {
        return text;
    }

    /** The kind with that number, if this library knows it. */
    public static Optional<CoreRelocationKind> of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? Optional.of(BY_NUMBER[number]) : Optional.empty();
    }
}
