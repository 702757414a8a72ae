package io.bpf4j.usdt.internal.spec;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The offsets of the fields of {@code struct __bpf_usdt_spec}, the value of the map {@code __bpf_usdt_specs}: an ABI
 * between the BPF object and its loader. <i>Immutable.</i>
 *
 * <p>The struct was changed in libbpf 1.7 without a version number, so objects of both kinds exist, and only the size
 * (208 or 304 bytes) or the BTF of the map's value distinguishes them. Byte offsets:
 *
 * <pre>
 *                     to 1.6   since 1.7, little endian   since 1.7, big endian
 *   args[i]           16 i     24 i                       24 i
 *     val_off    u64     0        0                          0
 *     arg_type           8 u32    8 u8                      12 u8
 *     idx_reg_off        -       10 u16, low 12 bits        10 u16, high 12 bits
 *     scale_bitshift     -       10 u16, high 4 bits        10 u16, low 4 bits
 *     reg_off    s16    12       14                         14
 *     arg_signed u8     14       16                         16
 *     arg_bitshift u8   15       17                         17
 *   usdt_cookie  u64   192      288                        288
 *   arg_cnt      s16   200      296                        296
 *   size               208      304                        304
 * </pre>
 *
 * <p>Compared with clang 19's layout of the declaration for both byte orders. As in BTF, fields are counted in bits
 * from the start of the struct: on little endian from the lowest bit of a byte, on big endian from its highest. With
 * that convention one loop writes plain integers and bit fields alike.
 *
 * @param size bytes of the struct
 * @param maxArgs length of args
 * @param argSize bytes of an element of args
 * @param argFields the fields of an element of args, by their names
 */
public record SpecLayout(
        ByteOrder order,
        int size,
        int maxArgs,
        int argSize,
        Map<String, Field> argFields,
        Field cookie,
        Field argCount) {
    /** The fields of an argument that every layout has. */
    static final Set<String> REQUIRED = Set.of("val_off", "arg_type", "reg_off", "arg_signed", "arg_bitshift");

    /** The fields that a layout with index registers has, too. */
    static final Set<String> INDEX = Set.of("idx_reg_off", "scale_bitshift");

    /**
     * The fields for the used part of an index register, in bpf4j's own layout only: 64 minus its bits, like
     * arg_bitshift, and whether it is signed.
     */
    static final Set<String> INDEX_SIZE = Set.of("idx_bitshift", "idx_signed");

    public SpecLayout {
        argFields = Map.copyOf(argFields);
    }

    /** A field: its first bit, counted from the start of its struct, and its width in bits. */
    public record Field(int bit, int width) {
        static Field bytes(int offset, int size) {
            return new Field(offset * 8, size * 8);
        }

        boolean isInside(int bytes) {
            return bit >= 0 && (long) bit + width <= 8L * bytes;
        }
    }

    /** The name of the map, given by usdt.bpf.h. */
    public static final String MAP = "__bpf_usdt_specs";

    /** Far above any existing layout, and small enough to have one spec for each site. */
    private static final int MAX_SIZE = 4096;

    /** The layout of libbpf up to 1.6. */
    public static SpecLayout of208(ByteOrder order) {
        Map<String, Field> argument = Map.ofEntries(
                Map.entry("val_off", Field.bytes(0, 8)),
                Map.entry("arg_type", Field.bytes(8, 4)),
                Map.entry("reg_off", Field.bytes(12, 2)),
                Map.entry("arg_signed", Field.bytes(14, 1)),
                Map.entry("arg_bitshift", Field.bytes(15, 1)));
        return new SpecLayout(order, 208, 12, 16, argument, Field.bytes(192, 8), Field.bytes(200, 2));
    }

    /** The layout of libbpf since 1.7. */
    public static SpecLayout of304(ByteOrder order) {
        Map<String, Field> argument = Map.ofEntries(
                Map.entry("val_off", Field.bytes(0, 8)),
                Map.entry("arg_type", Field.bytes(order == ByteOrder.LITTLE_ENDIAN ? 8 : 12, 1)),
                Map.entry("idx_reg_off", new Field(80, 12)),
                Map.entry("scale_bitshift", new Field(92, 4)),
                Map.entry("reg_off", Field.bytes(14, 2)),
                Map.entry("arg_signed", Field.bytes(16, 1)),
                Map.entry("arg_bitshift", Field.bytes(17, 1)));
        return new SpecLayout(order, 304, 12, 24, argument, Field.bytes(288, 8), Field.bytes(296, 2));
    }

    /** The layout of a map whose values have this size; empty for a size that no libbpf has used. */
    public static Optional<SpecLayout> ofValueSize(int valueSize, ByteOrder order) {
        return switch (valueSize) {
            case 208 -> Optional.of(of208(order));
            case 304 -> Optional.of(of304(order));
            default -> Optional.empty();
        };
    }

    /** Whether every field is within its struct; data from a file may be wrong. */
    boolean fits() {
        return size <= MAX_SIZE
                && (long) maxArgs * argSize <= size
                && argFields.values().stream().allMatch(field -> field.isInside(argSize))
                && cookie.isInside(size)
                && argCount.isInside(size);
    }

    /** Whether it can express {@code base + index * scale}. */
    public boolean hasIndex() {
        return argFields.keySet().containsAll(INDEX);
    }

    /** Whether it can express that only a part of the index register is used. */
    public boolean hasIndexSize() {
        return argFields.keySet().containsAll(INDEX_SIZE);
    }

    /**
     * The bytes of the map's value: the description of a site for the BPF program.
     *
     * @param args in order, at most {@link #maxArgs}
     * @param userCookie the result of {@code bpf_usdt_cookie()}
     */
    public byte[] encode(List<ArgSpec> args, long userCookie) {
        if (args.size() > maxArgs) {
            throw new IllegalArgumentException(args.size() + " arguments, but a spec has room for " + maxArgs);
        }
        byte[] out = new byte[size];
        int start = 0;
        for (ArgSpec arg : args) {
            if (arg.type() == ArgSpec.Type.SIB && !hasIndex()) {
                throw new IllegalArgumentException("this layout has no index register");
            }
            put(out, start, "val_off", arg.valueOrOffset());
            put(out, start, "arg_type", arg.type().number());
            put(out, start, "reg_off", arg.registerOffset());
            put(out, start, "arg_signed", arg.signed() ? 1 : 0);
            put(out, start, "arg_bitshift", arg.bitShift());
            put(out, start, "idx_reg_off", arg.indexOffset());
            put(out, start, "scale_bitshift", arg.scaleShift());
            put(out, start, "idx_bitshift", 64 - 8L * Math.abs(arg.indexSize()));
            put(out, start, "idx_signed", arg.indexSize() < 0 ? 1 : 0);
            start += argSize;
        }
        put(out, 0, cookie, userCookie);
        put(out, 0, argCount, args.size());
        return out;
    }

    private void put(byte[] out, int structOffset, String name, long value) {
        Field field = argFields.get(name);
        if (field != null) {
            put(out, structOffset, field, value);
        } else if (value != 0) {
            throw new IllegalArgumentException("this layout has no field " + name);
        }
    }

    private void put(byte[] out, int structOffset, Field field, long value) {
        int bit = structOffset * 8 + field.bit();
        boolean little = order == ByteOrder.LITTLE_ENDIAN;
        if (field.bit() % 8 == 0 && field.width() % 8 == 0) {
            int bytes = field.width() / 8;
            for (int i = 0; i < bytes; i++) {
                out[bit / 8 + (little ? i : bytes - 1 - i)] = (byte) (value >> (8 * i));
            }
            return;
        }
        for (int i = 0; i < field.width(); i++) {
            if ((value >> i & 1) != 0) {
                int at = bit + (little ? i : field.width() - 1 - i);
                out[at / 8] |= (byte) (1 << (little ? at % 8 : 7 - at % 8));
            }
        }
    }
}
