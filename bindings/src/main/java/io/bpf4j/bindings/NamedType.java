package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import io.bpf4j.btf.BtfType;
import java.util.ArrayList;
import java.util.List;

/** A struct, union or enumeration that gets a class. <i>Confined</i>: members are added when all names are known. */
final class NamedType {
    /** A constructor has at most 255 slots for its parameters; a long takes two. */
    private static final int MAX_SLOTS = 250;

    private final BtfType type;
    private final String text;
    private final ClassName className;
    private final long size;
    private final List<Member> members = new ArrayList<>();

    /**
     * A member of a struct or union.
     *
     * @param text its declaration in C
     * @param name in Java
     * @param bit its first bit, from the start of the struct
     * @param bits of a bit-field; 0 for others
     * @param shape of an element, if it is a flexible array
     * @param flexible whether it is an array without a size
     * @param second the name of a second method: for the bytes of text, or the count of a flexible array
     */
    record Member(String text, String name, long bit, int bits, Shape shape, boolean flexible, String second) {
        long offset() {
            return bit / 8;
        }

        boolean isBitField() {
            return bits != 0;
        }

        /** Where it is, for a comment. */
        String place() {
            return isBitField()
                    ? (bits == 1 ? "bit " + bit : "bits " + bit + " to " + (bit + bits - 1))
                    : "byte " + bit / 8;
        }

        int slots() {
            return shape.type().equals(TypeName.LONG) || shape.type().equals(TypeName.DOUBLE) ? 2 : 1;
        }
    }

    /** @param text as in C: {@code struct event} */
    NamedType(BtfType type, String text, ClassName className, long size) {
        this.type = type;
        this.text = text;
        this.className = className;
        this.size = size;
    }

    BtfType type() {
        return type;
    }

    String text() {
        return text;
    }

    ClassName className() {
        return className;
    }

    /** Bytes. */
    long size() {
        return size;
    }

    boolean isEnum() {
        return type instanceof BtfType.Enumeration;
    }

    /** Whether an enumeration has negative numbers. */
    boolean isSigned() {
        return type instanceof BtfType.Enumeration enumeration && enumeration.signed();
    }

    /** The number of an enumeration: of up to 4 bytes in an int, where an unsigned one may look negative. */
    Scalar number() {
        return size == 4 ? Scalar.S32 : Scalar.integer((int) size, isSigned());
    }

    List<Member> members() {
        return members;
    }

    /** The members that a value has. */
    List<Member> components() {
        return members.stream().filter(member -> !member.flexible()).toList();
    }

    /** Whether a value is its bytes: of a union, whose members share them, and of a struct that is too large. */
    boolean isBytes() {
        int slots = components().stream().mapToInt(Member::slots).sum();
        return type instanceof BtfType.Union || slots == 0 || slots > MAX_SLOTS;
    }
}
