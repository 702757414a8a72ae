package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A kernel struct, declared once as in C: its fields in order, from which their offsets follow. <i>Immutable.</i>
 *
 * <pre>{@code
 * StructLayout.of("bpf_link_info.cgroup", "u64 cgroup_id; u32 attach_type")
 * }</pre>
 *
 * <p>A field starts at the next multiple of its size, as in all ABIs for structs that user space shares with the
 * kernel. Fields of nested structs and unions are named by their path; of a union only the used field is declared, and
 * padding need not be declared. Bit-fields are declared as the whole number, by the name of the first of them.
 *
 * @param type the kernel's type, and the path of members in it
 * @param size bytes up to the end of the last declared field, rounded up to a multiple of 8
 */
public record StructLayout(String type, Map<String, Field> fields, long size) {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    /** Offset and size in bytes. */
    public record Field(int offset, int size) {}

    /**
     * Declares a struct.
     *
     * @param type the kernel's type, and the path of members in it: {@code bpf_attr.link_create.netfilter}
     * @param declarations {@code u8}, {@code u16}, {@code u32} or {@code u64}, the last also for pointers, and names:
     *     {@code u32 prog_fd, target_fd; u8 tag[8]}
     */
    public static StructLayout of(String type, String declarations) {
        Map<String, Field> fields = new LinkedHashMap<>();
        int end = 0;
        for (String declaration : declarations.split(";", -1)) {
            String fieldsOfOneType = declaration.strip();
            int space = fieldsOfOneType.indexOf(' ');
            if (space < 0) {
                continue; // after the last
            }
            int size = switch (fieldsOfOneType.substring(0, space)) {
                case "u8" -> 1;
                case "u16" -> 2;
                case "u32" -> 4;
                case "u64" -> 8;
                default -> throw new IllegalArgumentException(declaration);
            };
            for (String field : fieldsOfOneType.substring(space).split(",", -1)) {
                String name = field.strip();
                int count = 1;
                int bracket = name.indexOf('[');
                if (bracket >= 0) {
                    count = Integer.parseInt(name.substring(bracket + 1, name.length() - 1));
                    name = name.substring(0, bracket);
                }
                int offset = (end + size - 1) / size * size;
                end = offset + size * count;
                fields.put(name, new Field(offset, size * count));
            }
        }
        return new StructLayout(type, fields, (end + 7) & ~7);
    }

    @Override
    public Map<String, Field> fields() {
        return Map.copyOf(fields);
    }

    private Field field(String name) {
        return Objects.requireNonNull(fields.get(name), name);
    }

    /** Bytes up to the end of the last declared field: the size of a struct that has no padding at its end. */
    public long end() {
        return fields.values().stream()
                .mapToLong(field -> field.offset() + field.size())
                .max()
                .orElse(0);
    }

    /** The offset of a field in bytes. */
    public long offset(String name) {
        return field(name).offset();
    }

    /** Of the value as many of the lowest bytes as the field has. */
    public void set(MemorySegment struct, String name, long value) {
        Field field = field(name);
        switch (field.size()) {
            case 1 -> struct.set(ValueLayout.JAVA_BYTE, field.offset(), (byte) value);
            case 2 -> struct.set(ValueLayout.JAVA_SHORT_UNALIGNED, field.offset(), (short) value);
            case 4 -> struct.set(U32, field.offset(), (int) value);
            default -> struct.set(U64, field.offset(), value);
        }
    }

    /** The first fields, in the order of their declaration. */
    public void setAll(MemorySegment struct, long... values) {
        Iterator<String> names = fields.keySet().iterator();
        for (long value : values) {
            set(struct, names.next(), value);
        }
    }

    public void set(MemorySegment struct, String name, MemorySegment pointsAt) {
        set(struct, name, pointsAt.address());
    }

    int u16(MemorySegment struct, String name) {
        return Short.toUnsignedInt(struct.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset(name)));
    }

    public int u32(MemorySegment struct, String name) {
        return struct.get(U32, offset(name));
    }

    long u64(MemorySegment struct, String name) {
        return struct.get(U64, offset(name));
    }

    /** The bytes of a field. */
    MemorySegment slice(MemorySegment struct, String name) {
        return struct.asSlice(offset(name), field(name).size());
    }
}
