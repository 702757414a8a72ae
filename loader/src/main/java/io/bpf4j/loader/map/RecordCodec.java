package io.bpf4j.loader.map;

import io.bpf4j.btf.BtfType;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A C struct as a record. This class computes the layout once; {@link RecordCompiler} generates the code that reads and
 * writes it.
 *
 * <p>C's rules: a field is at the next multiple of its alignment, a struct has the alignment of its most aligned field,
 * and its size is rounded up to that alignment. So {@code record E(byte kind, long time, int cpu)} has the offsets 0,
 * 8, 16 and the size 24.
 *
 * <p>Components are accessed by reflection, so the record's package must be open to this module if both are in named
 * modules. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CodecTest} and {@code CodecTypesTest}.
 */
record RecordCodec<R extends Record>(
        Class<R> type, RecordCompiler.Compiled compiled, List<Field> fields, long size, long alignment)
        implements Codec<R> {
    /** Limits the nesting of a record that refers to itself. */
    private static final int MAX_DEPTH = 16;

    /** The C counterpart of a component. */
    sealed interface Element permits Scalar, Whole {
        long size();

        long alignment();

        Optional<String> difference(CType type);
    }

    /** A Java object: text, an array, a nested struct. */
    record Whole(Codec<Object> codec, long alignment) implements Element {
        @SuppressWarnings("unchecked") // a component's codec only gets values of that component
        static Whole of(Codec<?> codec, long alignment) {
            return new Whole((Codec<Object>) codec, alignment);
        }

        @Override
        public long size() {
            return codec.size();
        }

        @Override
        public Optional<String> difference(CType type) {
            return codec.difference(type);
        }
    }

    /**
     * A component.
     *
     * @param accessor returns its value
     * @param cName of the C field, if {@link Codec.Name} sets it
     * @param text as in Java, such as {@code int[4]}
     * @param offset bytes from the start of the struct
     */
    record Field(
            String name, MethodHandle accessor, Optional<String> cName, String text, Element element, long offset) {
        boolean isFor(CType.Field field) {
            return cName.isPresent()
                    ? cName.get().equals(field.name())
                    : plain(name).equals(plain(field.name()));
        }

        private static String plain(String name) {
            return name.replace("_", "").toLowerCase(Locale.ROOT);
        }

        long end() {
            return offset + element.size();
        }

        boolean overlaps(CType.Field field) {
            return field.bitOffset() < end() * 8 && offset * 8 < field.bitOffset() + field.width();
        }

        boolean covers(CType.Field field) {
            return offset * 8 <= field.bitOffset() && field.bitOffset() + field.width() <= end() * 8;
        }

        @Override
        public String toString() {
            return "component \"" + name + "\" (" + text + " at byte " + offset + ")";
        }
    }

    static <R extends Record> RecordCodec<R> of(Class<R> type) {
        // A property of GraalVM, set in programs that are compiled ahead of time.
        if (System.getProperty("org.graalvm.nativeimage.imagecode") != null) {
            throw new UnsupportedOperationException("a codec of record " + type.getName() + " can't be made in a native"
                    + " image, which defines no classes at run time; use the class that bpf4j generate makes of the"
                    + " object, or a Codec of your own");
        }
        return of(type, 0);
    }

    private static <R extends Record> RecordCodec<R> of(Class<R> type, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "record " + type.getName() + " is nested too deeply, or contains itself");
        }
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        RecordComponent[] components = type.getRecordComponents();
        List<Field> fields = new ArrayList<>();
        long offset = 0;
        long alignment = 1;
        try {
            for (RecordComponent component : components) {
                Element element = elementOf(component, depth);
                offset = roundUp(offset, element.alignment());
                component.getAccessor().setAccessible(true);
                fields.add(new Field(
                        component.getName(),
                        lookup.unreflect(component.getAccessor()),
                        Optional.ofNullable(component.getAnnotation(Name.class)).map(Name::value),
                        text(component),
                        element,
                        offset));
                offset += element.size();
                alignment = Math.max(alignment, element.alignment());
            }
            Class<?>[] types =
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            Constructor<R> canonical = type.getDeclaredConstructor(types);
            canonical.setAccessible(true);
            RecordCompiler.Compiled compiled = RecordCompiler.compile(lookup.unreflectConstructor(canonical), fields);
            return new RecordCodec<>(type, compiled, List.copyOf(fields), roundUp(offset, alignment), alignment);
        } catch (ReflectiveOperationException | RuntimeException e) {
            if (e instanceof IllegalArgumentException known) {
                throw known;
            }
            throw new IllegalArgumentException(
                    "record " + type.getName() + " can't be read by reflection; open its package to io.bpf4j.loader",
                    e);
        }
    }

    private static String text(RecordComponent component) {
        String name = component.getType().getSimpleName().replace("[]", "");
        @Nullable Length length = component.getAnnotation(Length.class);
        return length == null ? name : name + "[" + length.value() + "]";
    }

    private static Element elementOf(RecordComponent component, int depth) {
        Class<?> type = component.getType();
        @Nullable Length length = component.getAnnotation(Length.class);
        if (type == String.class || type.isArray()) {
            if (length == null || length.value() < 1) {
                throw invalid(component, "needs @Codec.Length with the number of elements");
            }
            if (type == String.class) {
                return Whole.of(Codec.ofString(length.value()), 1);
            }
            Element element = single(type.getComponentType(), component, depth);
            return Whole.of(new ArrayCodec(element, type.getComponentType(), length.value()), element.alignment());
        }
        return single(type, component, depth);
    }

    private static Element single(Class<?> type, RecordComponent component, int depth) {
        Optional<Scalar> scalar = Scalar.of(type);
        if (scalar.isPresent()) {
            return scalar.get();
        }
        if (type.isRecord()) {
            RecordCodec<?> nested = of(type.asSubclass(Record.class), depth + 1);
            return Whole.of(nested, nested.alignment);
        }
        throw invalid(
                component,
                type.isEnum()
                        ? "is an enum, whose constants have no C values in Java; use an int, or another integer"
                                + " of the C size"
                        : "has a type without a corresponding C type");
    }

    private static IllegalArgumentException invalid(RecordComponent component, String problem) {
        return new IllegalArgumentException("component " + component.getName() + " of "
                + component.getDeclaringRecord().getName() + " ("
                + component.getType().getSimpleName() + ") "
                + problem);
    }

    private static long roundUp(long offset, long alignment) {
        return (offset + alignment - 1) / alignment * alignment;
    }

    /**
     * Each component must have the offset, size and kind of the field of its name, and each field must have a
     * component: otherwise a named padding field in a key would be sent as zeroes. Java has no bit-fields; a component
     * corresponds to all bit-fields in its bytes.
     */
    @Override
    public Optional<String> difference(CType struct) {
        if (!(struct.plain() instanceof BtfType.Composite)) {
            return fields.size() == 1
                    ? fields.getFirst().element.difference(struct)
                    : Optional.of(struct.shortName() + " is not a struct, but " + this + " corresponds to a struct");
        }
        return misplaced(struct.fields())
                .or(() -> struct.differenceInSize(size))
                .map(problem -> problem + "; in C it is " + struct + ", and in Java " + this
                        + ". Declare a record component for each field, in the same order and of the same size;"
                        + " if its name differs from the field's, add @Codec.Name");
    }

    private Optional<String> misplaced(List<CType.Field> all) {
        for (Field component : fields) {
            Optional<CType.Field> matching = all.stream()
                    .filter(component::isFor)
                    .min(Comparator.comparing(field -> field.bitOffset() != component.offset * 8));
            Optional<String> problem =
                    matching.isPresent() ? difference(component, matching.get()) : unmatched(component, all);
            if (problem.isPresent()) {
                return problem.map(text -> component + " " + text);
            }
        }
        return all.stream()
                .filter(field -> field.width() > 0 && fields.stream().noneMatch(each -> each.overlaps(field)))
                .findFirst()
                .map(field -> "field \"" + field.name() + "\" at byte " + field.bitOffset() / 8 + " has no component");
    }

    private static Optional<String> difference(Field component, CType.Field field) {
        if (field.bits() != 0 && component.covers(field)) {
            return Optional.empty();
        }
        if (field.bitOffset() != component.offset * 8) {
            return Optional.of(
                    "corresponds to field \"" + field.name() + "\", which is at byte " + field.bitOffset() / 8);
        }
        return field.type()
                .differenceInSize(component.element.size())
                .or(() -> component.element.difference(field.type()))
                .map(problem -> "corresponds to field \"" + field.name() + "\", but " + problem);
    }

    /** A component whose name matches no field may correspond to bit-fields. */
    private static Optional<String> unmatched(Field component, List<CType.Field> all) {
        List<CType.Field> overlapping = all.stream().filter(component::overlaps).toList();
        if (!overlapping.isEmpty()
                && overlapping.stream().allMatch(field -> field.bits() != 0 && component.covers(field))) {
            return Optional.empty();
        }
        return Optional.of("matches no field by name"
                + (overlapping.isEmpty()
                        ? ", nor by offset"
                        : "; at its offset is \"" + overlapping.getFirst().name() + "\""));
    }

    /** Such as {@code Stats(long count @0, int pid @8) (16 bytes)}. */
    @Override
    public String toString() {
        return fields.stream()
                        .map(field -> field.text + " " + field.name + " @" + field.offset)
                        .collect(Collectors.joining(", ", type.getSimpleName() + "(", ")"))
                + " (" + size + " bytes)";
    }

    @Override
    public R decode(MemorySegment source, long offset) {
        return type.cast(compiled.decode(source, offset));
    }

    @Override
    public void encode(R value, MemorySegment target, long offset) {
        // Clears padding too, because the kernel compares keys byte by byte.
        target.asSlice(offset, size).fill((byte) 0);
        compiled.encode(type.cast(value), target, offset);
    }

    /** A C array of numbers or structs. */
    private record ArrayCodec(Element element, Class<?> elementType, int length) implements Codec<Object> {
        /**
         * A {@code byte[]} matches any type of its size; other arrays match an array of the same elements, of any
         * dimensions.
         */
        @Override
        public Optional<String> difference(CType type) {
            Optional<String> ofSize = type.differenceInSize(size());
            CType array = type.unwrapped();
            if (ofSize.isPresent() || elementType == byte.class || array.plain() instanceof BtfType.Union) {
                return ofSize;
            }
            return array.element()
                    .map(each -> each.differenceInSize(element.size()).or(() -> element.difference(each)))
                    .orElseGet(() -> Optional.of(type.shortName() + " is not an array"));
        }

        @Override
        public long size() {
            return element.size() * length;
        }

        @Override
        public Object decode(MemorySegment source, long offset) {
            Object array = Array.newInstance(elementType, length);
            switch (element) {
                case Scalar scalar -> scalar.read(source, offset, array, length);
                case Whole whole -> {
                    Object[] values = (Object[]) array;
                    for (int i = 0; i < length; i++) {
                        values[i] = whole.codec.decode(source, offset + i * whole.size());
                    }
                }
            }
            return array;
        }

        @Override
        public void encode(Object value, MemorySegment target, long offset) {
            if (Array.getLength(value) != length) {
                throw new IllegalArgumentException(
                        "an array of " + Array.getLength(value) + " elements, but the array in C has " + length);
            }
            switch (element) {
                case Scalar scalar -> scalar.write(value, length, target, offset);
                case Whole whole -> {
                    Object[] values = (Object[]) value;
                    for (int i = 0; i < length; i++) {
                        whole.codec.encode(values[i], target, offset + i * whole.size());
                    }
                }
            }
        }
    }
}
