package io.bpf4j.bindings;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import io.bpf4j.btf.Btf;
import io.bpf4j.loader.ProgramArray;
import io.bpf4j.loader.RedirectMap;
import io.bpf4j.loader.binding.EventMap;
import io.bpf4j.loader.map.ArenaMap;
import io.bpf4j.loader.map.BloomFilterMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapOfMaps;
import io.bpf4j.loader.map.QueueMap;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.kernel.MapType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The method of a map: it returns the view that fits the map's type, keys and values. <i>Confined.</i>
 *
 * <p>Tested by {@code BindingsGeneratorTest}.
 */
final class MapWriter {
    private final ObjectSpec spec;
    private final Btf btf;
    private final TypeModel types;
    private final JavaNames names;
    private final LayoutParts parts;
    private final Map<String, String> events;

    /**
     * @param names of the methods of the class
     * @param events the structs of the records of ring and perf buffers, by the names of the maps
     */
    MapWriter(
            ObjectSpec spec, Btf btf, TypeModel types, JavaNames names, LayoutParts parts, Map<String, String> events) {
        this.spec = spec;
        this.btf = btf;
        this.types = types;
        this.names = names;
        this.parts = parts;
        this.events = events;
    }

    MethodSpec write(MapSpec map) {
        parts.add("map", map.name());
        Access access = access(map);
        return ObjectWriter.method(names.claim(JavaNames.member(map.name()), "Map"))
                .addJavadoc("$L", comment(map))
                .returns(access.type())
                .addStatement("return $L", access.expression())
                .build();
    }

    private String comment(MapSpec map) {
        StringBuilder text = new StringBuilder("The map {@code " + CText.safe(map.name()) + "}: ");
        text.append(
                map.type().map(known -> known.name().toLowerCase(Locale.ROOT)).orElse("type " + map.typeNumber()));
        spec.declaredType(map.keyTypeId(), map.keySize())
                .ifPresent(key -> text.append(", keys {@code ")
                        .append(CText.declaration(btf, key.id(), ""))
                        .append('}'));
        spec.declaredType(map.valueTypeId(), map.valueSize())
                .ifPresent(value -> text.append(", values {@code ")
                        .append(CText.declaration(btf, value.id(), ""))
                        .append('}'));
        Optional.ofNullable(events.get(map.name()))
                .ifPresent(event -> text.append(", records {@code ")
                        .append(CText.safe(event))
                        .append('}'));
        return text.append(".\n").toString();
    }

    /** How a map is accessed: the type of the view, and what makes it. */
    private record Access(TypeName type, CodeBlock expression) {}

    private Access access(MapSpec map) {
        CodeBlock plain = CodeBlock.of("object.map($L)", CText.literal(map.name()));
        Access untyped = new Access(ClassName.get(BpfMap.class), plain);
        if (map.type().isEmpty()) {
            return untyped;
        }
        return switch (map.type().get()) {
            case RINGBUF, PERF_EVENT_ARRAY -> {
                Optional<Shape> event =
                        Optional.ofNullable(events.get(map.name())).flatMap(this::event);
                yield event.map(shape -> eventMap((Shape.Declared) shape, plain))
                        .orElse(untyped);
            }
            case ARRAY, PERCPU_ARRAY -> {
                Shape index = new Shape.Numeric(Scalar.S32);
                yield map.keySize() == 4
                        ? value(map)
                                .map(shape -> table(map, index, shape, plain))
                                .orElse(untyped)
                        : untyped;
            }
            case HASH,
                    LRU_HASH,
                    PERCPU_HASH,
                    LRU_PERCPU_HASH,
                    LPM_TRIE,
                    SK_STORAGE,
                    TASK_STORAGE,
                    INODE_STORAGE,
                    CGRP_STORAGE -> {
                Optional<Shape> key = key(map);
                Optional<Shape> value = value(map);
                yield key.isPresent() && value.isPresent() ? table(map, key.get(), value.get(), plain) : untyped;
            }
            case QUEUE, STACK ->
                value(map).map(shape -> one(QueueMap.class, shape, plain)).orElse(untyped);
            case BLOOM_FILTER ->
                value(map).map(shape -> one(BloomFilterMap.class, shape, plain)).orElse(untyped);
            case ARRAY_OF_MAPS -> one(MapOfMaps.class, new Shape.Numeric(Scalar.S32), plain);
            case HASH_OF_MAPS ->
                key(map).map(shape -> one(MapOfMaps.class, shape, plain)).orElse(untyped);
            case PROG_ARRAY -> of(ClassName.get(ProgramArray.class), ProgramArray.class, plain);
            case DEVMAP, DEVMAP_HASH, CPUMAP -> of(ClassName.get(RedirectMap.class), RedirectMap.class, plain);
            case STACK_TRACE -> of(ClassName.get(StackTraceMap.class), StackTraceMap.class, plain);
            case ARENA -> of(ClassName.get(ArenaMap.class), ArenaMap.class, plain);
            default -> untyped;
        };
    }

    private Optional<Shape> event(String struct) {
        parts.add("type", struct);
        return types.shape(TypeModel.find(btf, struct).orElseThrow(), JavaNames.type(struct));
    }

    private Optional<Shape> key(MapSpec map) {
        return element(map.keyTypeId(), map.keySize(), JavaNames.type(map.name()) + "Key");
    }

    private Optional<Shape> value(MapSpec map) {
        return element(map.valueTypeId(), map.valueSize(), JavaNames.type(map.name()) + "Value");
    }

    private Optional<Shape> element(int typeId, int size, String nameless) {
        return spec.declaredType(typeId, size).flatMap(_ -> types.shape(typeId, nameless));
    }

    private static Access of(TypeName type, Class<?> view, CodeBlock map) {
        return new Access(type, CodeBlock.of("$T.of($L)", view, map));
    }

    private static Access one(Class<?> view, Shape shape, CodeBlock map) {
        return new Access(
                ParameterizedTypeName.get(ClassName.get(view), shape.type().box()),
                CodeBlock.of("$T.of($L, $L)", view, map, shape.codec()));
    }

    private static Access eventMap(Shape.Declared shape, CodeBlock map) {
        return new Access(
                ParameterizedTypeName.get(ClassName.get(EventMap.class), shape.type(), shape.viewName()),
                CodeBlock.of("$T.of($L, $L)", EventMap.class, map, shape.codec()));
    }

    private static Access table(MapSpec map, Shape key, Shape value, CodeBlock plain) {
        boolean perCpu = map.type().map(MapType::isPerCpu).orElse(false);
        TypeName one = value.type().box();
        TypeName values = perCpu ? ParameterizedTypeName.get(ClassName.get(List.class), one) : one;
        return new Access(
                ParameterizedTypeName.get(
                        ClassName.get(TypedMap.class), key.type().box(), values),
                CodeBlock.of(
                        "$T.$L($L, $L, $L)",
                        TypedMap.class,
                        perCpu ? "perCpu" : "of",
                        plain,
                        key.codec(),
                        value.codec()));
    }
}
