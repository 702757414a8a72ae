package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The structs that an object declares; codecs are checked against them.
 *
 * <p>Tested by {@code TypedViewsOnKernelTest}.
 */
public final class DeclaredTypes {
    private static final List<BtfKind> STRUCTS = List.of(BtfKind.STRUCT, BtfKind.UNION, BtfKind.TYPEDEF);

    private DeclaredTypes() {}

    /** A struct, union or typedef of the object. */
    public static Optional<CType> struct(ObjectSpec spec, String name) {
        return spec.btf()
                .flatMap(types -> STRUCTS.stream()
                        .map(kind -> types.find(name, kind))
                        .filter(OptionalInt::isPresent)
                        .findFirst()
                        .map(id -> new CType(types, id.getAsInt())));
    }

    /** The names of its structs, unions and typedefs. */
    public static List<String> structs(ObjectSpec spec) {
        return spec.btf().stream()
                .flatMap(types -> IntStream.range(types.firstId(), types.typeCount())
                        .filter(id -> STRUCTS.contains(types.kind(id)))
                        .mapToObj(types::name))
                .filter(name -> !name.isEmpty())
                .toList();
    }
}
