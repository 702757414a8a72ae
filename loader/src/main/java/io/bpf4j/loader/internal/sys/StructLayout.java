package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A kernel struct, declared once as in C: its fields in order, from which their offsets follow. <i>Immutable.</i>
 *
 * <pre>{@code
 * StructLayout.of("bpf_link_info.cgroup", "u64 cgroup_id", "u32 attach_type")
 * }</pre>
 *
 * <p>A field starts at the next multiple of its size, as in all ABIs for structs that user space shares with the
 * kernel. Fields of nested structs and unions are named by their path; of a union only the used field is declared, and
 * padding need not be declared.
 */
public final class StructLayout {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private final String type;
    private final Map<String, Field> fields;

    /** Offset and size in bytes. */
    public record Field(int offset, int size) {}

    private StructLayout(String type, Map<String, Field> fields) {
        this.type = type;
        this.fields = fields;
    }

    /**
     * Declares a struct.
     *
     * @param type the kernel's type, and the path of members in it: {@code bpf_attr.link_create.netfilter}
     * @param declarations {@code u32 NAME} or {@code u64 NAME}, the second also for pointers
     */
    public static StructLayout of(String type, String... declarations) {
        Map<String, Field> fields = new LinkedHashMap<>();
        int end = 0;
        for (String declaration : declarations) {
            int size = switch (declaration.substring(0, 4)) {
                case "u32 " -> 4;
                case "u64 " -> 8;
                default -> throw new IllegalArgumentException(declaration);
            };
            int offset = (end + size - 1) / size * size;
            fields.put(declaration.substring(4), new Field(offset, size));
            end = offset + size;
        }
        return new StructLayout(type, fields);
    }

    public String type() {
        return type;
    }

    /** In the order of their offsets. */
    public Map<String, Field> fields() {
        return Map.copyOf(fields);
    }

    private Field field(String name) {
        return Objects.requireNonNull(fields.get(name), name);
    }

    /** For a field of four bytes the lower half of the value. */
    public void set(MemorySegment struct, String name, long value) {
        Field field = field(name);
        if (field.size() == 4) {
            struct.set(U32, field.offset(), (int) value);
        } else {
            struct.set(U64, field.offset(), value);
        }
    }

    public void set(MemorySegment struct, String name, MemorySegment pointsAt) {
        set(struct, name, pointsAt.address());
    }

    int u32(MemorySegment struct, String name) {
        return struct.get(U32, field(name).offset());
    }

    long u64(MemorySegment struct, String name) {
        return struct.get(U64, field(name).offset());
    }
}
