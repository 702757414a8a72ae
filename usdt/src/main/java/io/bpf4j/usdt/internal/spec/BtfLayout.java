package io.bpf4j.usdt.internal.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.usdt.internal.spec.SpecLayout.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Takes the layout of a spec from the BTF of the BPF object, field by field, by name. So a future version of usdt.bpf.h
 * that moves fields is supported as long as their names and meanings stay.
 */
public final class BtfLayout {
    private BtfLayout() {}

    /**
     * The layout of the map's value; empty if the type doesn't look like {@code struct __bpf_usdt_spec}, and the caller
     * may fall back to the size.
     *
     * @param valueType id of the value's type
     */
    public static Optional<SpecLayout> of(Btf btf, int valueType) {
        try {
            return read(btf, valueType);
        } catch (MalformedDataException e) {
            return Optional.empty();
        }
    }

    private static Optional<SpecLayout> read(Btf btf, int valueType) {
        if (!(btf.type(btf.resolve(valueType)) instanceof BtfType.Struct spec)) {
            return Optional.empty();
        }
        Member args = member(spec, "args");
        Field cookie = field(btf, spec, "usdt_cookie");
        Field count = field(btf, spec, "arg_cnt");
        if (args == null
                || args.bitOffset() != 0
                || cookie == null
                || count == null
                || !(btf.type(btf.resolve(args.type())) instanceof BtfType.Array array)
                || !(btf.type(btf.resolve(array.elementType())) instanceof BtfType.Struct arg)) {
            return Optional.empty();
        }
        Map<String, Field> argFields = new HashMap<>();
        Stream.of(SpecLayout.REQUIRED, SpecLayout.INDEX, SpecLayout.INDEX_SIZE)
                .flatMap(Set::stream)
                .forEach(name -> {
                    Field field = field(btf, arg, name);
                    if (field != null) {
                        argFields.put(name, field);
                    }
                });
        int maxArgs = (int) Math.min(array.count(), Short.MAX_VALUE);
        SpecLayout layout =
                new SpecLayout(btf.order(), (int) spec.size(), maxArgs, (int) arg.size(), argFields, cookie, count);
        return argFields.keySet().containsAll(SpecLayout.REQUIRED) && layout.fits()
                ? Optional.of(layout)
                : Optional.empty();
    }

    private static @Nullable Field field(Btf btf, BtfType.Struct struct, String name) {
        Member member = member(struct, name);
        if (member == null) {
            return null;
        }
        long width = member.isBitField() ? member.bitSize() : 8 * btf.size(member.type());
        return width > 0 && width <= 64 ? new Field((int) member.bitOffset(), (int) width) : null;
    }

    private static @Nullable Member member(BtfType.Struct struct, String name) {
        return struct.members().stream()
                .filter(m -> m.name().equals(name))
                .findFirst()
                .orElse(null);
    }
}
