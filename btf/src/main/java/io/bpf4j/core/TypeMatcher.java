package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Implements {@code bpf_core_type_matches}: the target's type has at least the members of the program's type.
 *
 * <ul>
 *   <li>Modifiers and typedefs are ignored. Names must be equal except for flavours, at every level.
 *   <li>Integers: same size and signedness. Arrays: same count, and the elements match.
 *   <li>Structs and unions: each member of the program's type is in the target's type, by name, and matches. For the
 *       target of a pointer, an equal name and kind are enough, and it may be a forward declaration: otherwise one
 *       pointer in {@code task_struct} would compare half of the kernel.
 *   <li>Enumerations: same size, and each name of the program's type is in the target's type, with any number.
 *   <li>Prototypes: the same number of parameters; parameters match in order, and return types match.
 * </ul>
 *
 * <p>The rules are those of libbpf's {@code bpf_core_types_match}, because programs depend on them.
 *
 * <p>Tested by {@code CoreMatchingTest}.
 */
final class TypeMatcher {
    private final Types local;
    private final Types target;
    private final RelocationBudget budget;
    /** Cached results, because types of members recur: without the cache malicious types take exponential time. */
    private final Map<TypePair, Boolean> results = new HashMap<>();

    private record TypePair(int local, int target, boolean behindPointer) {}

    TypeMatcher(Types local, Types target, RelocationBudget budget) {
        this.local = local;
        this.target = target;
        this.budget = budget;
    }

    /** Whether the root types, whose names are equal, match. */
    boolean matches(int localId, int targetId) {
        return matches(localId, targetId, false, TypeCompatibility.MAX_DEPTH);
    }

    private boolean matches(int localId, int targetId, boolean behindPointer, int levels) {
        if (levels == 0) {
            throw TypeCompatibility.tooDeep(local, localId, target, targetId);
        }
        TypePair pair = new TypePair(localId, targetId, behindPointer);
        Boolean result = results.get(pair);
        if (result == null) {
            budget.spend(RelocationBudget.COMPARISON);
            result = compare(local.resolved(localId), target.resolved(targetId), behindPointer, levels - 1);
            results.put(pair, result);
        }
        return result;
    }

    private boolean compare(BtfType l, BtfType t, boolean behindPointer, int levels) {
        if (!TypeCompatibility.sameEssentialName(l.name(), t.name())) {
            return false;
        }
        return switch (l) {
            case BtfType.VoidType _ -> t instanceof BtfType.VoidType;
            case BtfType.Fwd f -> forward(f, t, behindPointer);
            case BtfType.Enumeration e -> t instanceof BtfType.Enumeration other && enumerations(e, other);
            case BtfType.Composite c -> composites(c, t, behindPointer, levels);
            case BtfType.Int i ->
                t instanceof BtfType.Int other && i.size() == other.size() && i.isSigned() == other.isSigned();
            case BtfType.Ptr p -> t instanceof BtfType.Ptr other && matches(p.type(), other.type(), true, levels);
            case BtfType.Array a ->
                t instanceof BtfType.Array other
                        && a.count() == other.count()
                        && matches(a.elementType(), other.elementType(), behindPointer, levels);
            case BtfType.FuncProto p ->
                t instanceof BtfType.FuncProto other && prototypes(p, other, behindPointer, levels);
            case BtfType.FloatingPoint _,
                    BtfType.Typedef _,
                    BtfType.Modifier _,
                    BtfType.Func _,
                    BtfType.Var _,
                    BtfType.Datasec _,
                    BtfType.DeclTag _ -> false;
        };
    }

    private static boolean forward(BtfType.Fwd l, BtfType t, boolean behindPointer) {
        if (t instanceof BtfType.Fwd other) {
            return l.isUnion() == other.isUnion();
        }
        return behindPointer && (l.isUnion() ? t instanceof BtfType.Union : t instanceof BtfType.Struct);
    }

    private boolean enumerations(BtfType.Enumeration l, BtfType.Enumeration t) {
        if (l.size() != t.size()) {
            return false;
        }
        budget.spend(l.values().size() + (long) t.values().size());
        Set<String> names = new HashSet<>();
        for (BtfType.EnumValue value : t.values()) {
            names.add(Btf.essentialName(value.name()));
        }
        return l.values().stream().allMatch(value -> names.contains(Btf.essentialName(value.name())));
    }

    private boolean composites(BtfType.Composite l, BtfType t, boolean behindPointer, int levels) {
        if (behindPointer) {
            return l.kind() == t.kind()
                    || (t instanceof BtfType.Fwd other && other.isUnion() == (l instanceof BtfType.Union));
        }
        if (l.kind() != t.kind() || !(t instanceof BtfType.Composite other)) {
            return false;
        }
        if (l.members().size() > other.members().size()) {
            return false;
        }
        budget.spend(other.members().size());
        // Anonymous members share the empty name, so a name has a list of members.
        Map<String, List<BtfType.Member>> byName = new HashMap<>();
        for (BtfType.Member member : other.members()) {
            byName.computeIfAbsent(Btf.essentialName(member.name()), _ -> new ArrayList<>())
                    .add(member);
        }
        for (BtfType.Member member : l.members()) {
            List<BtfType.Member> named = byName.getOrDefault(Btf.essentialName(member.name()), List.of());
            budget.spend(1);
            if (named.stream().noneMatch(m -> {
                budget.spend(1);
                return matches(member.type(), m.type(), false, levels);
            })) {
                return false;
            }
        }
        return true;
    }

    private boolean prototypes(BtfType.FuncProto l, BtfType.FuncProto t, boolean behindPointer, int levels) {
        if (l.parameters().size() != t.parameters().size()) {
            return false;
        }
        budget.spend(l.parameters().size());
        for (int i = 0; i < l.parameters().size(); i++) {
            if (!matches(l.parameters().get(i).type(), t.parameters().get(i).type(), behindPointer, levels)) {
                return false;
            }
        }
        return matches(l.returnType(), t.returnType(), behindPointer, levels);
    }
}
