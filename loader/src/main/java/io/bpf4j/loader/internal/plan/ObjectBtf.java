package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.kernel.Feature;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Converts the BTF of an object to BTF that the kernel accepts. Ids do not change, because maps, functions and lines
 * refer to them; only the types of these ids change.
 *
 * <p>The conversion has two reasons. First, a compiler leaves some fields to the linker: a DATASEC has size 0, its
 * variables have offset 0, and externs have no section. The kernel requires sizes, ascending offsets and no externs.
 * Second, an older kernel rejects the whole BTF for one kind that it doesn't know. Each such kind becomes a known kind
 * of the same size:
 *
 * <pre>
 *   kind                 until   becomes
 *   FUNC, FUNC_PROTO     5.0     typedef; enum (and the programs are loaded without function information)
 *   VAR, DATASEC         5.2     int; struct without members
 *   global FUNC          5.6     static FUNC
 *   FLOAT                5.13    struct of that size
 *   DECL_TAG             5.16    int
 *   TYPE_TAG             5.17    const
 *   ENUM64, signed ENUM  6.0     union of that size; unsigned ENUM
 * </pre>
 */
final class ObjectBtf {
    private final ObjectSpec spec;
    private final Features features;
    private final Btf original;
    private final BtfBuilder result;

    private ObjectBtf(ObjectSpec spec, Btf original, Features features) {
        this.spec = spec;
        this.features = features;
        this.original = original;
        this.result = BtfBuilder.from(original);
    }

    /** The bytes to load. */
    static byte[] loadable(ObjectSpec spec, Btf btf, Features features) {
        return new ObjectBtf(spec, btf, features).build();
    }

    private byte[] build() {
        Map<String, DataSection> sections = new HashMap<>();
        for (MapSpec map : spec.maps()) {
            map.data().ifPresent(data -> sections.put(data.name(), data));
        }
        int last = original.typeCount();
        for (int id = Math.max(1, original.firstId()); id < last; id++) {
            if (original.type(id) instanceof BtfType.Datasec datasec) {
                complete(id, datasec, sections.get(datasec.name()));
            }
        }
        ContextArguments.declare(spec, features, original, result);
        Set<String> hidden = spec.functions().stream()
                .filter(f -> f.hidden() && f.isSubprogram())
                .map(FunctionSpec::name)
                .collect(Collectors.toSet());
        for (int id = Math.max(1, original.firstId()); id < last; id++) {
            BtfType type = result.type(id);
            BtfType known = knownToKernel(withPlainName(withHiddenAsStatic(type, hidden)));
            if (!known.equals(type)) {
                result.set(id, known);
            }
        }
        try {
            return result.toBytes(spec.order());
        } catch (IllegalArgumentException e) {
            // Sizes that fit a file but exceed the kernel's limits, such as 100,000 variables in a section.
            throw new InvalidObjectException(
                    spec.source() + ": its BTF can't be loaded into a kernel: " + e.getMessage(), e);
        }
    }

    /** Gives a DATASEC its size, its variables their offsets, and externs a place. */
    private void complete(int id, BtfType.Datasec datasec, @org.jspecify.annotations.Nullable DataSection data) {
        if (datasec.name().equals(".ksyms")) {
            ksyms(id, datasec);
            return;
        }
        if (data == null) {
            // A section without bytes, such as license or .maps: the variables are laid out one after the other.
            result.set(id, layOut(datasec));
            return;
        }
        Map<Integer, GlobalSpec> places = new HashMap<>();
        for (GlobalSpec variable : data.variables()) {
            places.put(variable.variableId(), variable);
        }
        List<BtfType.SectionVariable> variables = new ArrayList<>();
        for (BtfType.SectionVariable variable : datasec.variables()) {
            GlobalSpec place = places.get(variable.type());
            if (place == null) {
                continue;
            }
            variables.add(new BtfType.SectionVariable(variable.type(), place.offset(), place.size()));
            if (original.type(variable.type()) instanceof BtfType.Var var) {
                // Like hidden functions, hidden variables are local to the object.
                BtfType.Var placed = new BtfType.Var(
                        var.name(), var.type(), place.exported() ? BtfType.Linkage.GLOBAL : BtfType.Linkage.STATIC);
                if (place.size() != variable.size()) {
                    placed = ResizedData.variable(result, original, place, placed)
                            .orElse(placed);
                }
                if (!placed.equals(var)) {
                    result.set(variable.type(), placed);
                }
            }
        }
        variables.sort(Comparator.comparingLong(BtfType.SectionVariable::offset));
        result.set(id, new BtfType.Datasec(datasec.name(), data.size(), variables));
    }

    private BtfType.Datasec layOut(BtfType.Datasec datasec) {
        List<BtfType.SectionVariable> variables = new ArrayList<>();
        long offset = 0;
        boolean hasOffsets = datasec.size() != 0;
        for (BtfType.SectionVariable variable : datasec.variables()) {
            variables.add(
                    hasOffsets ? variable : new BtfType.SectionVariable(variable.type(), offset, variable.size()));
            offset += variable.size();
            if (offset >>> 32 != 0) {
                throw new InvalidObjectException(spec.source() + ": the variables of section \"" + datasec.name()
                        + "\" are together larger than 4 GiB");
            }
        }
        return new BtfType.Datasec(datasec.name(), hasOffsets ? datasec.size() : Math.max(offset, 1), variables);
    }

    /**
     * Kernel symbols have no place in a section. The kernel accepts only variables in a DATASEC, so each extern
     * function is replaced there by an int, and each extern variable becomes an int of 4 bytes; nothing reads them.
     */
    private void ksyms(int id, BtfType.Datasec datasec) {
        int integer = integer();
        List<BtfType.SectionVariable> variables = new ArrayList<>();
        long offset = 0;
        for (BtfType.SectionVariable variable : datasec.variables()) {
            BtfType type = original.type(variable.type());
            int place = variable.type();
            switch (type) {
                case BtfType.Func func -> {
                    nameParameters(func.type());
                    result.set(place, new BtfType.Func(func.name(), func.type(), BtfType.Linkage.GLOBAL));
                    place = result.add(new BtfType.Var(func.name(), integer, BtfType.Linkage.GLOBAL));
                }
                case BtfType.Var var -> result.set(place, new BtfType.Var(var.name(), integer, BtfType.Linkage.GLOBAL));
                default -> {
                    continue;
                }
            }
            variables.add(new BtfType.SectionVariable(place, offset, 4));
            offset += 4;
        }
        result.set(id, new BtfType.Datasec(datasec.name(), Math.max(offset, 1), variables));
    }

    /** The object's own {@code int}; objects without one get it. */
    private int integer() {
        BtfType wanted = BtfType.Int.of("int", 4, BtfType.Int.SIGNED);
        for (int id = Math.max(1, original.firstId()); id < original.typeCount(); id++) {
            if (original.type(id).equals(wanted)) {
                return id;
            }
        }
        return result.add(wanted);
    }

    /**
     * A declaration may have parameters without names; the kernel requires names because the declaration is now a
     * definition.
     */
    private void nameParameters(int proto) {
        if (!(result.type(proto) instanceof BtfType.FuncProto declared)) {
            return;
        }
        List<BtfType.Parameter> named = new ArrayList<>();
        for (BtfType.Parameter parameter : declared.parameters()) {
            // Type 0 marks variable arguments, which have no name.
            boolean unnamed = parameter.name().isEmpty() && parameter.type() != 0;
            named.add(unnamed ? new BtfType.Parameter("p" + named.size(), parameter.type()) : parameter);
        }
        result.set(proto, new BtfType.FuncProto(declared.returnType(), named));
    }

    /**
     * The kernel verifies a global function separately, for any arguments: a pointer may be null there. A hidden
     * function has callers only in the object, so it may be verified with each caller; the hidden helpers of libbpf's
     * usdt.bpf.h depend on this.
     */
    private static BtfType withHiddenAsStatic(BtfType type, Set<String> hidden) {
        return type instanceof BtfType.Func func && hidden.contains(func.name())
                ? new BtfType.Func(func.name(), func.type(), BtfType.Linkage.STATIC)
                : type;
    }

    /**
     * A section that is optional, {@code ?.struct_ops}, by a name that kernels before 6.9 accept, too (kernel commit
     * bd70a8fb7ca4); none of them uses the name.
     */
    private static BtfType withPlainName(BtfType type) {
        return type instanceof BtfType.Datasec datasec && datasec.name().startsWith("?")
                ? new BtfType.Datasec("_" + datasec.name().substring(1), datasec.size(), datasec.variables())
                : type;
    }

    private BtfType knownToKernel(BtfType type) {
        return switch (type) {
            case BtfType.Func func
            when features.lacks(Feature.BTF_FUNC) -> new BtfType.Typedef(func.name(), func.type());
            case BtfType.FuncProto proto
            when features.lacks(Feature.BTF_FUNC) -> new BtfType.Enum32("", 4, false, List.of());
            case BtfType.Func func
            when func.linkage() != BtfType.Linkage.STATIC && features.lacks(Feature.BTF_GLOBAL_FUNC) ->
                new BtfType.Func(func.name(), func.type(), BtfType.Linkage.STATIC);
            case BtfType.Var var
            when features.lacks(Feature.BTF_DATASEC) -> BtfType.Int.of(identifier(var.name()), 1, 0);
            case BtfType.Datasec datasec
            when features.lacks(Feature.BTF_DATASEC) ->
                new BtfType.Struct(identifier(datasec.name()), datasec.size(), List.of());
            case BtfType.FloatingPoint real
            when features.lacks(Feature.BTF_FLOAT) -> new BtfType.Struct("", real.size(), List.of());
            case BtfType.DeclTag tag when features.lacks(Feature.BTF_DECL_TAG) -> BtfType.Int.of("tag", 1, 0);
            case BtfType.TypeTag tag when features.lacks(Feature.BTF_TYPE_TAG) -> new BtfType.Const(tag.type());
            case BtfType.Enum64 wide
            when features.lacks(Feature.BTF_ENUM64) -> new BtfType.Union(wide.name(), wide.size(), List.of());
            case BtfType.Enum32 narrow
            when narrow.signed() && features.lacks(Feature.BTF_ENUM64) ->
                new BtfType.Enum32(narrow.name(), narrow.size(), false, narrow.values());
            default -> type;
        };
    }

    /** As in C, a struct or an int can't be named {@code .bss}. */
    private static String identifier(String name) {
        return name.replace('.', '_');
    }

    /** Whether the kernel accepts function information at all. */
    static boolean describesFunctions(ObjectSpec spec, Features features) {
        return spec.btf().isPresent() && !features.lacks(Feature.BTF_FUNC);
    }
}
