package io.bpf4j.core;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The part of a kernel's BTF that objects need for their CO-RE relocations: a few kilobytes of five million bytes. An
 * object can bring it along for each kernel that has no BTF.
 *
 * <pre>
 *   relocation                          what is kept of the kernel's types
 *   byte offset of task_struct.mm       struct task_struct with its size and the one member; of a pointer, not its target
 *   size of struct task_struct          struct task_struct without members
 *   match of struct task_struct         struct task_struct with all members
 *   value of enum bpf_func_id::…        the enumeration with all values
 * </pre>
 *
 * <p>All types that match a relocation are kept, not only the first: which ones match a later relocation depends on
 * those that matched the earlier ones ({@link CoreRelocator}). <i>Confined.</i>
 *
 * <p>Tested by {@code InspectionOnKernelTest}.
 */
public final class MinimalBtf {
    private static final int MAX_DEPTH = 64;

    private final Btf kernel;
    private final BitSet kept = new BitSet();
    /** By struct or union, the indexes of the members that are kept. */
    private final Map<Integer, BitSet> members = new HashMap<>();

    public MinimalBtf(Btf kernel) {
        this.kernel = kernel;
    }

    /**
     * Adds the types that the relocations of an object need.
     *
     * @param local the object's BTF
     * @throws CoreException if a relocation is invalid or ambiguous
     */
    public void add(Btf local, List<BtfExt.CoreRelocation> relocations) {
        CoreRelocator relocator = new CoreRelocator(local, CoreTarget.of(kernel));
        for (BtfExt.CoreRelocation relocation : relocations) {
            for (AccessPath path : relocator.matches(relocation)) {
                switch (path.kind().subject()) {
                    case FIELD -> addField(path);
                    case ENUM_VALUE -> add(path.root(), false, 0);
                    case TYPE -> {
                        add(path.root(), true, 0);
                        if (path.kind() == CoreRelocationKind.TYPE_MATCHES) {
                            addWhole(path.root(), new BitSet());
                        }
                    }
                }
            }
        }
    }

    private void addField(AccessPath path) {
        add(path.root(), false, 0);
        int id = kernel.resolve(path.root());
        for (int index : path.raw().subList(1, path.raw().size())) {
            switch (kernel.type(id)) {
                case BtfType.Composite type -> {
                    members.computeIfAbsent(id, _ -> new BitSet()).set(index);
                    id = type.members().get(index).type();
                }
                case BtfType.Array type -> id = type.elementType();
                default -> {}
            }
            add(id, false, 0);
            id = kernel.resolve(id);
        }
    }

    /**
     * Keeps a type, and those that it is made of. Of a struct no members are kept.
     *
     * @param targets whether to keep the targets of pointers, too
     */
    private void add(int id, boolean targets, int depth) {
        if (depth > MAX_DEPTH) {
            throw new CoreException(
                    "type " + id + " of " + kernel.source() + " is a chain of more than " + MAX_DEPTH + " types");
        }
        if (id == 0) {
            return;
        }
        kept.set(id);
        switch (kernel.type(id)) {
            case BtfType.Modifier type -> add(type.type(), targets, depth + 1);
            case BtfType.Typedef type -> add(type.type(), targets, depth + 1);
            case BtfType.Array type -> {
                add(type.elementType(), targets, depth + 1);
                add(type.indexType(), targets, depth + 1);
            }
            case BtfType.Ptr type -> {
                if (targets) {
                    add(type.type(), true, depth + 1);
                }
            }
            case BtfType.FuncProto type -> {
                add(type.returnType(), targets, depth + 1);
                type.parameters().forEach(parameter -> add(parameter.type(), targets, depth + 1));
            }
            default -> {}
        }
    }

    /** Keeps all members of a struct or union, and what they contain; those of the targets of pointers are not. */
    private void addWhole(int id, BitSet seen) {
        List<Integer> left = new ArrayList<>(List.of(kernel.resolve(id)));
        while (!left.isEmpty()) {
            int current = left.removeLast();
            if (seen.get(current) || !(kernel.type(current) instanceof BtfType.Composite type)) {
                continue;
            }
            seen.set(current);
            members.computeIfAbsent(current, _ -> new BitSet())
                    .set(0, type.members().size());
            for (BtfType.Member member : type.members()) {
                add(member.type(), true, 0);
                int plain = kernel.resolve(member.type());
                for (int step = 0; step < MAX_DEPTH && kernel.type(plain) instanceof BtfType.Array array; step++) {
                    plain = kernel.resolve(array.elementType());
                }
                left.add(plain);
            }
        }
    }

    /**
     * The kept types, in their order, with ids of their own.
     *
     * @throws CoreException if one has more members, values or parameters than BTF can be written with
     */
    public Btf build() {
        if (kernel.pointerSize() != Long.BYTES) {
            // Without this type, a reader would assume pointers of 8 bytes.
            kernel.find("long int", BtfKind.INT).ifPresent(kept::set);
        }
        Map<Integer, Integer> ids = new TreeMap<>();
        kept.stream().forEach(id -> ids.put(id, ids.size() + 1));
        BtfBuilder types = BtfBuilder.create();
        ids.keySet().forEach(id -> types.add(copy(id, ids)));
        ByteOrder order = kernel.order();
        try {
            return types.build("the types of " + kernel.source() + " that are needed", order);
        } catch (IllegalArgumentException e) {
            // A kernel newer than this version may have types with more members than can be written.
            CoreException refused =
                    new CoreException("the types of " + kernel.source() + " can't be copied: " + e.getMessage());
            refused.initCause(e);
            throw refused;
        }
    }

    /** A type with the new ids of those that it refers to; 0, which is void, for one that is not kept. */
    private BtfType copy(int id, Map<Integer, Integer> ids) {
        return switch (kernel.type(id)) {
            case BtfType.Struct type -> new BtfType.Struct(type.name(), type.size(), members(id, type, ids));
            case BtfType.Union type -> new BtfType.Union(type.name(), type.size(), members(id, type, ids));
            case BtfType.Ptr type -> new BtfType.Ptr(at(type.type(), ids));
            case BtfType.Array type ->
                new BtfType.Array(at(type.elementType(), ids), at(type.indexType(), ids), type.count());
            case BtfType.Typedef type -> new BtfType.Typedef(type.name(), at(type.type(), ids));
            case BtfType.Const type -> new BtfType.Const(at(type.type(), ids));
            case BtfType.Volatile type -> new BtfType.Volatile(at(type.type(), ids));
            case BtfType.Restrict type -> new BtfType.Restrict(at(type.type(), ids));
            case BtfType.TypeTag type -> new BtfType.TypeTag(type.name(), at(type.type(), ids), type.attribute());
            case BtfType.FuncProto type ->
                new BtfType.FuncProto(
                        at(type.returnType(), ids),
                        type.parameters().stream()
                                .map(each -> new BtfType.Parameter(each.name(), at(each.type(), ids)))
                                .toList());
            case BtfType other -> other;
        };
    }

    private List<BtfType.Member> members(int id, BtfType.Composite type, Map<Integer, Integer> ids) {
        BitSet wanted = members.getOrDefault(id, new BitSet());
        return wanted.stream()
                .mapToObj(index -> type.members().get(index))
                .map(member ->
                        new BtfType.Member(member.name(), at(member.type(), ids), member.bitOffset(), member.bitSize()))
                .toList();
    }

    private static int at(int id, Map<Integer, Integer> ids) {
        return ids.getOrDefault(id, 0);
    }
}
