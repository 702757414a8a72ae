package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.core.AccessPath.Step;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Follows the program's path in a candidate of the target: named steps by name, wherever the member is in the target,
 * elements by index.
 *
 * <p>Created for each candidate and relocation. If the path does not exist, {@link #mismatch} gives the reason.
 * <i>Confined.</i>
 *
 * <p>Tested by {@code CoreMatchingTest} and {@code CoreRelocatorTest}.
 */
final class CandidateMatcher {
    private final AccessPath path;
    private final Types target;
    private final int root;
    private final TypeCompatibility compatibility;
    private final RelocationBudget budget;

    private final List<Step> steps = new ArrayList<>();
    private final List<Integer> raw = new ArrayList<>();
    private long bitOffset;
    private String mismatch = "";

    /** Set if a search stopped at anonymous members that nest too deeply. */
    private boolean searchStopped;

    CandidateMatcher(AccessPath path, Types target, int root, RelocationBudget budget) {
        this.path = path;
        this.target = target;
        this.root = root;
        this.budget = budget;
        this.compatibility = new TypeCompatibility(path.types(), target, budget);
    }

    /** Why the candidate does not match; empty if it does. */
    String mismatch() {
        return mismatch;
    }

    /**
     * The path in the target, or null if this candidate doesn't have it.
     *
     * @throws CoreException if the candidate's members nest too deeply to decide
     */
    @Nullable
    AccessPath match() {
        boolean matched = switch (path.kind().subject()) {
            case TYPE -> type();
            case ENUM_VALUE -> enumValue();
            case FIELD -> field();
        };
        return matched ? new AccessPath(target, root, path.kind(), steps, raw, bitOffset) : null;
    }

    private boolean type() {
        boolean matched = path.kind() == CoreRelocationKind.TYPE_MATCHES
                ? new TypeMatcher(path.types(), target, budget).matches(path.root(), root)
                : compatibility.types(path.root(), root);
        return matched || reject("is a different type");
    }

    private boolean enumValue() {
        int id = target.resolve(root);
        String wanted = Btf.essentialName(nameOf(path.last()));
        if (target.type(id) instanceof BtfType.Enumeration e) {
            budget.spend(e.values().size());
            for (int i = 0; i < e.values().size(); i++) {
                String name = e.values().get(i).name();
                if (Btf.essentialName(name).equals(wanted)) {
                    steps.add(new Step(id, i, name));
                    raw.add(i);
                    return true;
                }
            }
        }
        return reject("has no value " + wanted);
    }

    private boolean field() {
        int id = root;
        for (int i = 0; i < path.steps().size(); i++) {
            Step wanted = path.steps().get(i);
            id = target.resolve(id);
            if (wanted.name() != null) {
                searchStopped = false;
                Step found = member(id, wanted, new HashSet<>());
                if (found == null) {
                    if (searchStopped) {
                        throw tooDeep("member " + wanted.name());
                    }
                    return reject("has no member " + wanted.name());
                }
                steps.add(found);
                BtfType.Member member = members(found.type()).get(found.index());
                id = member.type();
                if (!compatibility.fields(
                        members(path.types(), wanted.type()).get(wanted.index()).type(), id)) {
                    return reject("has a member " + wanted.name() + " of another type");
                }
            } else {
                // At the first step the root itself counts as an array of roots.
                if (i > 0) {
                    if (!(target.type(id) instanceof BtfType.Array a)) {
                        return reject("has no array where the program accesses element " + wanted.index());
                    }
                    if (wanted.index() >= a.count() && !AccessPath.isFlexible(target, a, steps.getLast())) {
                        return reject("has only " + a.count() + " elements where the program accesses element "
                                + wanted.index());
                    }
                    id = target.resolve(a.elementType());
                }
                raw.add(wanted.index());
                if (raw.size() > AccessPath.MAX_LENGTH) {
                    throw tooDeep("element " + wanted.index());
                }
                steps.add(new Step(id, wanted.index(), null));
                if (wanted.index() != 0) {
                    bitOffset += AccessPath.elementBits(target, wanted.index(), id);
                }
            }
        }
        return true;
    }

    /**
     * Finds a member by name, also in anonymous structs and unions, and adds the path to it to {@link #raw} and {@link
     * #bitOffset}.
     *
     * @param searched types that don't have the member; without this set, repeated anonymous members take exponential
     *     time
     */
    private @Nullable Step member(int id, Step wanted, Set<Integer> searched) {
        int composite = target.resolve(id);
        if (!searched.add(composite)) {
            return null;
        }
        if (raw.size() >= AccessPath.MAX_LENGTH) {
            searchStopped = true;
            return null;
        }
        List<BtfType.Member> members = members(composite);
        budget.spend(members.size());
        for (int i = 0; i < members.size(); i++) {
            BtfType.Member member = members.get(i);
            raw.add(i);
            bitOffset += member.bitOffset();
            if (member.name().isEmpty()) {
                Step found = member(member.type(), wanted, searched);
                if (found != null) {
                    return found;
                }
            } else if (member.name().equals(wanted.name())) {
                return new Step(composite, i, member.name());
            }
            bitOffset -= member.bitOffset();
            raw.removeLast();
        }
        return null;
    }

    /** An answer "does not exist" would be a guess: the member may be deeper. */
    private CoreException tooDeep(String wanted) {
        return new CoreException("CO-RE " + path.kind().text() + " of " + path + ": in type " + root + " of "
                + target.btf().source() + ", " + wanted + " is nested deeper than the " + AccessPath.MAX_LENGTH
                + " members and elements that a path may have, or does not exist");
    }

    private List<BtfType.Member> members(int id) {
        return members(target, id);
    }

    private static List<BtfType.Member> members(Types types, int id) {
        return types.type(id) instanceof BtfType.Composite c ? c.members() : List.of();
    }

    private static String nameOf(Step step) {
        String name = step.name();
        return name == null ? "" : name;
    }

    private boolean reject(String problem) {
        mismatch = problem;
        return false;
    }
}
