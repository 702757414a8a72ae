package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether a type of the program and a type of the target are compatible.
 *
 * <p>There are two relations, both weaker than equality because kernels change. <i>Fields</i>: a field may change its
 * size, but not from a number to a pointer. <i>Types</i>, for type relocations: same kind, with any members; pointers,
 * arrays and prototypes are followed. Modifiers and typedefs are always ignored.
 *
 * <p>The rules are those of libbpf's {@code bpf_core_fields_are_compat} and {@code bpf_core_types_are_compat}, because
 * programs depend on them.
 */
final class TypeCompatibility {
    /** Maximum nesting of prototypes in prototypes. */
    static final int MAX_DEPTH = 32;

    private final Types local;
    private final Types target;
    private final RelocationBudget budget;
    /** Cached results; without them nested prototypes with many parameters take exponential time. */
    private final Map<Long, Boolean> results = new HashMap<>();

    TypeCompatibility(Types local, Types target, RelocationBudget budget) {
        this.local = local;
        this.target = target;
        this.budget = budget;
    }

    /** The same kind, or enumerations of either width. */
    static boolean areKindsCompatible(BtfKind one, BtfKind other) {
        return one == other || (isEnumeration(one) && isEnumeration(other));
    }

    private static boolean isEnumeration(BtfKind kind) {
        return kind == BtfKind.ENUM || kind == BtfKind.ENUM64;
    }

    /** Whether the program can read a field of type {@code targetId} as {@code localId}. */
    boolean fields(int localId, int targetId) {
        int localType = localId;
        int targetType = targetId;
        for (int depth = 0; depth < MAX_DEPTH; depth++) {
            BtfType l = local.resolved(localType);
            BtfType t = target.resolved(targetType);
            if (l instanceof BtfType.Composite && t instanceof BtfType.Composite) {
                return true;
            }
            if (!areKindsCompatible(l.kind(), t.kind())) {
                return false;
            }
            switch (l) {
                case BtfType.Ptr _, BtfType.FloatingPoint _ -> {
                    return true;
                }
                case BtfType.Fwd _, BtfType.Enumeration _ -> {
                    return l.name().isEmpty() || t.name().isEmpty() || sameEssentialName(l.name(), t.name());
                }
                case BtfType.Int i -> {
                    return bothWithoutBitOffset(i, t);
                }
                case BtfType.Array a -> {
                    localType = a.elementType();
                    targetType = ((BtfType.Array) t).elementType();
                }
                case BtfType.Composite _,
                        BtfType.VoidType _,
                        BtfType.Typedef _,
                        BtfType.Modifier _,
                        BtfType.Func _,
                        BtfType.FuncProto _,
                        BtfType.Var _,
                        BtfType.Datasec _,
                        BtfType.DeclTag _ -> {
                    return false;
                }
            }
        }
        throw tooDeep(local, localId, target, targetId);
    }

    /** BTF of kernels before 5.0 stores bit-fields as integers of unusual width; relocating them gives wrong values. */
    private static boolean bothWithoutBitOffset(BtfType.Int one, BtfType other) {
        return one.bitOffset() == 0 && other instanceof BtfType.Int i && i.bitOffset() == 0;
    }

    static boolean sameEssentialName(String one, String other) {
        return Btf.essentialName(one).equals(Btf.essentialName(other));
    }

    /** Whether types are compatible by the second relation; typedefs at the root are ignored, too. */
    boolean declared(int localId, int targetId) {
        return types(localId, targetId, MAX_DEPTH);
    }

    /** Whether the root types of a type relocation, whose names are equal, have the same kinds at all levels. */
    boolean types(int localId, int targetId) {
        // A root typedef is compatible only with a typedef, although typedefs below it are ignored.
        return areKindsCompatible(local.btf().kind(localId), target.btf().kind(targetId))
                && types(localId, targetId, MAX_DEPTH);
    }

    private boolean types(int localId, int targetId, int levels) {
        if (levels == 0) {
            throw tooDeep(local, localId, target, targetId);
        }
        long key = (long) localId << 32 | targetId;
        Boolean result = results.get(key);
        if (result == null) {
            budget.spend(RelocationBudget.COMPARISON);
            result = compareTypes(localId, targetId, levels);
            results.put(key, result);
        }
        return result;
    }

    private boolean compareTypes(int localId, int targetId, int levels) {
        BtfType l = local.resolved(localId);
        BtfType t = target.resolved(targetId);
        if (!areKindsCompatible(l.kind(), t.kind())) {
            return false;
        }
        return switch (l) {
            case BtfType.VoidType _, BtfType.Composite _, BtfType.Enumeration _, BtfType.Fwd _ -> true;
            case BtfType.Int i -> bothWithoutBitOffset(i, t);
            case BtfType.Ptr p -> types(p.type(), ((BtfType.Ptr) t).type(), levels - 1);
            case BtfType.Array a -> types(a.elementType(), ((BtfType.Array) t).elementType(), levels - 1);
            case BtfType.FuncProto p -> prototypes(p, (BtfType.FuncProto) t, levels - 1);
            case BtfType.FloatingPoint _,
                    BtfType.Typedef _,
                    BtfType.Modifier _,
                    BtfType.Func _,
                    BtfType.Var _,
                    BtfType.Datasec _,
                    BtfType.DeclTag _ -> false;
        };
    }

    private boolean prototypes(BtfType.FuncProto l, BtfType.FuncProto t, int levels) {
        if (l.parameters().size() != t.parameters().size()) {
            return false;
        }
        budget.spend(l.parameters().size());
        for (int i = 0; i < l.parameters().size(); i++) {
            if (!types(l.parameters().get(i).type(), t.parameters().get(i).type(), levels)) {
                return false;
            }
        }
        return types(l.returnType(), t.returnType(), levels);
    }

    static CoreException tooDeep(Types local, int localId, Types target, int targetId) {
        return new CoreException("type " + localId + " of " + local.btf().source() + " and type " + targetId + " of "
                + target.btf().source() + " nest deeper than " + MAX_DEPTH + " levels, too deep to compare");
    }
}
