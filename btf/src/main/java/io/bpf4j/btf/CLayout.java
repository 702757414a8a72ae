package io.bpf4j.btf;

import io.bpf4j.elf.MalformedDataException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a struct or union must be declared in C so that a compiler gives it the layout that BTF describes.
 *
 * <p>BTF has the offset of each member and the size of the whole, and no attributes. A compiler (the x86-64 and BPF ABI)
 * puts a member at the next multiple of its alignment, and a bit-field at the next bit, or if it would cross a multiple
 * of its type's size, at that multiple. So this class lays out the members in the same way, and compares:
 *
 * <pre>
 *   the member is where BTF has it      nothing to do
 *   it should be further on             unnamed bit-fields before it: "long: 24;". They have no alignment
 *   it is not at its alignment          the struct is packed
 *   it overlaps, or is elsewhere        C has no such struct: it is declared as bytes
 * </pre>
 *
 * <p>A type that C aligned more strictly than its content (by {@code __attribute__((aligned(64)))}) is aligned like its
 * content, with padding at its end. This changes no offset: the padding before it, where it is a member, makes up for
 * that. <i>Confined.</i>
 */
final class CLayout {
    /** Nesting of anonymous structs. Named ones are laid out before the structs that contain them. */
    private static final int MAX_NESTING = 64;

    /**
     * The layout of a composite.
     *
     * @param packed whether it needs {@code __attribute__((packed))}
     * @param gaps of a struct, the padding before each member and at the end; of a union, the padding that gives it its
     *     size
     * @param align in bytes
     */
    record Layout(boolean packed, List<Gap> gaps, long align) {}

    /** Bits that need padding; none if the numbers are equal. */
    record Gap(long from, long to) {
        static final Gap NONE = new Gap(0, 0);

        boolean isEmpty() {
            return from == to;
        }
    }

    private final Btf btf;
    /** By id; a null layout means that C can't express it. */
    private final Map<Integer, @Nullable Layout> known = new HashMap<>();

    CLayout(Btf btf) {
        this.btf = btf;
    }

    /** The position of a member, in bits. */
    record BitRange(long offset, int bitFieldBits) {}

    /** BTF before Linux 5.0 keeps the position of a bit-field in its integer type. */
    BitRange bits(BtfType.Member member) {
        if (!member.isBitField()
                && btf.type(btf.resolve(member.type())) instanceof BtfType.Int integer
                && integer.bits() != 0
                && integer.bits() < 8 * integer.size()) {
            return new BitRange(member.bitOffset() + integer.bitOffset(), integer.bits());
        }
        return new BitRange(member.bitOffset(), member.bitSize());
    }

    /** The layout of a struct or union; null if C can't express it. */
    @Nullable
    Layout of(int id, int nesting) {
        if (nesting > MAX_NESTING) {
            throw new MalformedDataException(
                    btf.source(), 0, "type " + id + " contains more than " + MAX_NESTING + " levels of structs");
        }
        if (!known.containsKey(id)) {
            BtfType.Composite type = (BtfType.Composite) btf.type(id);
            known.put(id, type instanceof BtfType.Struct ? struct(type, nesting) : union(type, nesting));
        }
        return known.get(id);
    }

    /** The alignment of a type in bytes, as this class has it declared. */
    long align(int id, int nesting) {
        int current = element(id);
        return switch (btf.type(current)) {
            case BtfType.Composite _ -> {
                Layout layout = of(current, nesting + 1);
                yield layout == null ? 1 : layout.align;
            }
            default -> Math.max(1, btf.size(current));
        };
    }

    private @Nullable Layout struct(BtfType.Composite type, int nesting) {
        long align = 1;
        boolean packed = false;
        for (BtfType.Member member : type.members()) {
            if (!isPossible(member)) {
                return null;
            }
            BitRange range = bits(member);
            long memberAlign = align(member.type(), nesting);
            if (range.bitFieldBits != 0) {
                long unit = 8 * btf.size(member.type());
                packed |= range.offset % unit + range.bitFieldBits > unit;
            } else {
                packed |= range.offset % (8 * memberAlign) != 0;
            }
            align = Math.max(align, memberAlign);
        }
        packed |= type.size() % align != 0;
        long position = 0;
        List<Gap> gaps = new ArrayList<>();
        for (BtfType.Member member : type.members()) {
            BitRange range = bits(member);
            long natural = natural(member, range, position, packed, nesting);
            if (range.offset < natural || (range.bitFieldBits == 0 && range.offset % 8 != 0)) {
                return null;
            }
            gaps.add(natural == range.offset ? Gap.NONE : new Gap(position, range.offset));
            position = range.offset + (range.bitFieldBits != 0 ? range.bitFieldBits : 8 * btf.size(member.type()));
        }
        long end = roundUp(position, packed ? 8 : 8 * align);
        long size = 8 * type.size();
        if (end > size) {
            return null;
        }
        gaps.add(end == size ? Gap.NONE : new Gap(position, size));
        return new Layout(packed, gaps, packed ? 1 : align);
    }

    /** The position at which a compiler puts a member after others, without padding. */
    private long natural(BtfType.Member member, BitRange range, long position, boolean packed, int nesting) {
        if (range.bitFieldBits == 0) {
            return roundUp(position, packed ? 8 : 8 * align(member.type(), nesting));
        }
        long unit = 8 * btf.size(member.type());
        return packed || position % unit + range.bitFieldBits <= unit ? position : roundUp(position, unit);
    }

    private @Nullable Layout union(BtfType.Composite type, int nesting) {
        long align = 1;
        long largest = 0;
        for (BtfType.Member member : type.members()) {
            BitRange range = bits(member);
            if (range.offset != 0 || !isPossible(member)) {
                return null;
            }
            align = Math.max(align, align(member.type(), nesting));
            largest =
                    Math.max(largest, range.bitFieldBits != 0 ? (range.bitFieldBits + 7) / 8 : btf.size(member.type()));
        }
        boolean packed = type.size() % align != 0;
        long end = roundUp(largest, packed ? 1 : align);
        if (end > type.size()) {
            return null;
        }
        return new Layout(packed, List.of(new Gap(8 * end, 8 * type.size())), packed ? 1 : align);
    }

    /** Whether C has a member of this type. A bit-field is an integer or an enumeration, which has at least its bits. */
    private boolean isPossible(BtfType.Member member) {
        int bits = bits(member).bitFieldBits;
        return switch (btf.type(element(member.type()))) {
            case BtfType.FuncProto _, BtfType.Func _, BtfType.Fwd _, BtfType.VoidType _, BtfType.DeclTag _ -> false;
            case BtfType.Int type ->
                isSizeOfNumber(type.size())
                        && bits <= (CText.isTruth(type) ? 1 : 8 * type.size())
                        && isBare(member, bits);
            case BtfType.Enumeration type -> type.size() > 0 && bits <= 8 * type.size() && isBare(member, bits);
            case BtfType.FloatingPoint type -> isSizeOfNumber(type.size()) && type.size() > 1 && bits == 0;
            default -> bits == 0;
        };
    }

    /** Only the type itself may be a bit-field, an array of it may not. */
    private boolean isBare(BtfType.Member member, int bits) {
        return bits == 0 || btf.kind(btf.resolve(member.type())) != BtfKind.ARRAY;
    }

    private static boolean isSizeOfNumber(int size) {
        return size <= 16 && Integer.bitCount(size) == 1;
    }

    /** The type of the elements of an array, of any number of dimensions; else the type itself. */
    private int element(int id) {
        int current = btf.resolve(id);
        int dimensions = 0;
        while (btf.type(current) instanceof BtfType.Array array && dimensions++ < MAX_NESTING) {
            current = btf.resolve(array.elementType());
        }
        return current;
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }
}
