package io.bpf4j.loader.dryrun;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The part of a kernel's BTF that an object's relocations can lead to: types that the object has by name, with the
 * members that the object has by name. Offsets and sizes stay what they are; what a pointer leads to stays a name.
 */
final class SmallKernel {
    private final Btf kernel;
    private final Set<String> types = new HashSet<>();
    private final Set<String> members = new HashSet<>();
    private final BtfBuilder small = BtfBuilder.create();
    private final Map<Integer, Integer> known = new HashMap<>(Map.of(0, 0));

    private SmallKernel(Btf kernel, Btf object) {
        this.kernel = kernel;
        for (int id = 1; id < object.typeCount(); id++) {
            switch (object.type(id)) {
                case BtfType.Composite composite -> {
                    types.add(Btf.essentialName(object.name(id)));
                    composite.members().forEach(member -> members.add(member.name()));
                }
                case BtfType.Enumeration _, BtfType.Typedef _ -> types.add(Btf.essentialName(object.name(id)));
                default -> {}
            }
        }
        types.remove("");
    }

    static Btf of(Btf kernel, Btf object) {
        SmallKernel work = new SmallKernel(kernel, object);
        for (int id = 1; id < kernel.typeCount(); id++) {
            if (work.isWanted(id)) {
                work.copy(id);
            }
        }
        return work.small.build(kernel.source(), ByteOrder.nativeOrder());
    }

    private boolean isWanted(int id) {
        return switch (kernel.kind(id)) {
            case STRUCT, UNION, ENUM, ENUM64, TYPEDEF -> types.contains(kernel.name(id));
            default -> false;
        };
    }

    private int copy(int id) {
        Integer before = known.get(id);
        if (before != null) {
            return before;
        }
        // A place first: types lead back to themselves.
        int place = small.add(new BtfType.Ptr(0));
        known.put(id, place);
        small.set(place, copied(kernel.type(id)));
        return place;
    }

    private BtfType copied(BtfType type) {
        return switch (type) {
            case BtfType.Int integer -> integer;
            case BtfType.FloatingPoint real -> real;
            case BtfType.Fwd fwd -> fwd;
            case BtfType.Ptr pointer -> new BtfType.Ptr(target(pointer.type()));
            case BtfType.Array array ->
                new BtfType.Array(copy(array.elementType()), copy(array.indexType()), array.count());
            case BtfType.Struct struct -> new BtfType.Struct(struct.name(), struct.size(), kept(struct.members()));
            case BtfType.Union union -> new BtfType.Union(union.name(), union.size(), kept(union.members()));
            case BtfType.Enum32 e -> types.contains(e.name()) ? e : new BtfType.Enum32("", e.size(), false, List.of());
            case BtfType.Enum64 e -> types.contains(e.name()) ? e : new BtfType.Enum64("", e.size(), false, List.of());
            case BtfType.Typedef typedef -> new BtfType.Typedef(typedef.name(), copy(typedef.type()));
            case BtfType.Const modifier -> new BtfType.Const(copy(modifier.type()));
            case BtfType.Volatile modifier -> new BtfType.Volatile(copy(modifier.type()));
            case BtfType.Restrict modifier -> new BtfType.Restrict(copy(modifier.type()));
            default -> throw new IllegalArgumentException(type + " is not a type of a field");
        };
    }

    /** A pointer's type is asked for its name at most. */
    private int target(int id) {
        int resolved = kernel.resolve(id);
        BtfKind kind = kernel.kind(resolved);
        if (kind == BtfKind.STRUCT || kind == BtfKind.UNION) {
            return isWanted(resolved)
                    ? copy(resolved)
                    : small.add(new BtfType.Fwd(kernel.name(resolved), kind == BtfKind.UNION));
        }
        return 0;
    }

    private List<Member> kept(List<Member> all) {
        return all.stream()
                .filter(member -> members.contains(member.name()) || isNameless(member))
                .map(member -> new Member(member.name(), copy(member.type()), member.bitOffset(), member.bitSize()))
                .toList();
    }

    /** An unnamed struct or union, if something of it is kept. */
    private boolean isNameless(Member member) {
        return member.name().isEmpty()
                && kernel.type(kernel.resolve(member.type())) instanceof BtfType.Composite inner
                && inner.members().stream().anyMatch(m -> members.contains(m.name()) || isNameless(m));
    }
}
