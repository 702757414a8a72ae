package io.bpf4j.btf;

import io.bpf4j.elf.MalformedDataException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;

/**
 * Relocates the BTF of a module to a kernel that it was not built with.
 *
 * <p>The type ids of a module's BTF continue those of the kernel, and it refers to kernel types by id: this is valid
 * for one build of one kernel. So since Linux 6.11 a module that is built separately has a <i>distilled base</i> in its
 * section {@code .BTF.base}: the name, the kind and, if the layout depends on it, the size of each kernel type that the
 * module refers to. The kernel's types are found by these, and the module's types are renumbered:
 *
 * <pre>
 *   .BTF.base           [1] INT 'int' size=4   [2] STRUCT 'list_head' size=16   [3] FWD 'task_struct'
 *   .BTF                [4] STRUCT 'mine': task [5], list [2]   [5] PTR to [3]
 *   the kernel          [1] INT 'int' ... [77] STRUCT 'list_head' ... [132] STRUCT 'task_struct' ... 126610 types
 *   the result          [126610] STRUCT 'mine': task [126611], list [77]   [126611] PTR to [132]
 * </pre>
 *
 * Source: Documentation/bpf/btf.rst of the kernel, section 4.2 (.BTF.base); kernel commits 58e185a0dc35 and
 * 8646db238997. <i>Confined.</i>
 */
final class DistilledBase {
    private final Btf base;
    private final Btf kernel;
    private final int[] found;

    /** The names whose types of the kernel are in {@link #candidates}. */
    private final Set<String> indexed = new HashSet<>();

    private final Map<Identity, List<Integer>> candidates = new HashMap<>();

    private DistilledBase(Btf base, Btf kernel) {
        this.base = base;
        this.kernel = kernel;
        this.found = new int[base.typeCount()];
    }

    /**
     * The module's types on top of a kernel's types.
     *
     * @param split the module's types, on top of its distilled base
     * @throws MalformedDataException if the kernel lacks a type, or has two with the same name and size
     */
    static Btf relocate(Btf split, Btf kernel) {
        Btf base = split.base().orElseThrow();
        DistilledBase relocation = new DistilledBase(base, kernel);
        for (int id = 1; id < base.typeCount(); id++) {
            relocation.found[id] = relocation.find(id);
        }
        BtfBuilder relocated = BtfBuilder.split(kernel);
        int shift = kernel.typeCount() - split.firstId();
        IntUnaryOperator ids = id -> {
            if (id < 0 || id >= split.typeCount()) {
                throw split.bytes()
                        .malformed(
                                0,
                                "refers to type " + Integer.toUnsignedString(id) + ", but there are "
                                        + split.typeCount() + " types");
            }
            return id < relocation.found.length ? relocation.found[id] : id + shift;
        };
        for (int id = split.firstId(); id < split.typeCount(); id++) {
            relocated.add(withIds(split.type(id), ids));
        }
        try {
            return relocated.build(split.source(), kernel.order());
        } catch (IllegalArgumentException e) {
            // Types are read with more members than they can be written with.
            MalformedDataException malformed =
                    new MalformedDataException(split.source(), 0, "can't be renumbered: " + e.getMessage());
            malformed.initCause(e);
            throw malformed;
        }
    }

    private int find(int id) {
        String name = base.name(id);
        if (indexed.add(name)) {
            for (int candidate : kernel.idsNamed(name)) {
                for (Identity identity : Identity.of(name, kernel.type(candidate))) {
                    candidates
                            .computeIfAbsent(identity, _ -> new ArrayList<>(2))
                            .add(candidate);
                }
            }
        }
        List<Identity> identities = Identity.of(name, base.type(id));
        List<Integer> matches =
                identities.isEmpty() ? List.of() : candidates.getOrDefault(identities.getFirst(), List.of());
        if (matches.isEmpty()) {
            throw malformedType(id, "is not in " + kernel.source() + ": the module is for another kernel");
        }
        if (matches.size() > 1 && base.type(id) instanceof BtfType.Composite composite && composite.size() != 0) {
            throw malformedType(
                    id,
                    "is ambiguous: " + kernel.source() + " has it as [" + matches.getFirst() + "] and ["
                            + matches.get(1) + "], both of the same size");
        }
        return matches.getFirst();
    }

    /**
     * The properties of a type that a distilled base stores.
     *
     * @param size in bytes; 0 if the layout does not depend on it
     * @param detail the encoding of an integer; for a forward declaration, 1 if it is a union
     */
    private record Identity(String name, BtfKind kind, long size, int detail) {
        /** The forms in which a base may store this type, the most specific one first. */
        static List<Identity> of(String name, BtfType type) {
            return switch (type) {
                case BtfType.Int integer ->
                    List.of(new Identity(name, BtfKind.INT, integer.size(), integer.encoding()));
                case BtfType.FloatingPoint real -> List.of(new Identity(name, BtfKind.FLOAT, real.size(), 0));
                // A distilled base stores 64-bit enumerations as 32-bit ones, with their own size.
                case BtfType.Enumeration enumeration ->
                    List.of(new Identity(name, BtfKind.ENUM, enumeration.size(), 0));
                case BtfType.Composite composite -> {
                    Identity exact = new Identity(name, composite.kind(), composite.size(), 0);
                    Identity anySize = new Identity(name, composite.kind(), 0, 0);
                    Identity declared = new Identity(name, BtfKind.FWD, 0, composite instanceof BtfType.Union ? 1 : 0);
                    yield exact.equals(anySize) ? List.of(exact, declared) : List.of(exact, anySize, declared);
                }
                case BtfType.Fwd fwd -> List.of(new Identity(name, BtfKind.FWD, 0, fwd.isUnion() ? 1 : 0));
                default -> List.of();
            };
        }
    }

    private MalformedDataException malformedType(int id, String problem) {
        return base.bytes()
                .malformed(0, "type [" + id + "] " + base.kind(id) + " \"" + base.name(id) + "\" " + problem);
    }

    /** The same type with other ids in it. */
    private static BtfType withIds(BtfType type, IntUnaryOperator ids) {
        return switch (type) {
            case BtfType.VoidType nothing -> nothing;
            case BtfType.Int integer -> integer;
            case BtfType.FloatingPoint real -> real;
            case BtfType.Enum32 enumeration -> enumeration;
            case BtfType.Enum64 enumeration -> enumeration;
            case BtfType.Fwd fwd -> fwd;
            case BtfType.Ptr pointer -> new BtfType.Ptr(ids.applyAsInt(pointer.type()));
            case BtfType.Array array ->
                new BtfType.Array(
                        ids.applyAsInt(array.elementType()), ids.applyAsInt(array.indexType()), array.count());
            case BtfType.Struct struct -> new BtfType.Struct(struct.name(), struct.size(), members(struct, ids));
            case BtfType.Union union -> new BtfType.Union(union.name(), union.size(), members(union, ids));
            case BtfType.Typedef typedef -> new BtfType.Typedef(typedef.name(), ids.applyAsInt(typedef.type()));
            case BtfType.Volatile modifier -> new BtfType.Volatile(ids.applyAsInt(modifier.type()));
            case BtfType.Const modifier -> new BtfType.Const(ids.applyAsInt(modifier.type()));
            case BtfType.Restrict modifier -> new BtfType.Restrict(ids.applyAsInt(modifier.type()));
            case BtfType.TypeTag tag -> new BtfType.TypeTag(tag.name(), ids.applyAsInt(tag.type()), tag.attribute());
            case BtfType.Func function ->
                new BtfType.Func(function.name(), ids.applyAsInt(function.type()), function.linkage());
            case BtfType.FuncProto prototype -> {
                List<BtfType.Parameter> parameters = new ArrayList<>();
                for (BtfType.Parameter parameter : prototype.parameters()) {
                    parameters.add(new BtfType.Parameter(parameter.name(), ids.applyAsInt(parameter.type())));
                }
                yield new BtfType.FuncProto(ids.applyAsInt(prototype.returnType()), parameters);
            }
            case BtfType.Var variable ->
                new BtfType.Var(variable.name(), ids.applyAsInt(variable.type()), variable.linkage());
            case BtfType.Datasec section -> {
                List<BtfType.SectionVariable> variables = new ArrayList<>();
                for (BtfType.SectionVariable variable : section.variables()) {
                    variables.add(new BtfType.SectionVariable(
                            ids.applyAsInt(variable.type()), variable.offset(), variable.size()));
                }
                yield new BtfType.Datasec(section.name(), section.size(), variables);
            }
            case BtfType.DeclTag tag ->
                new BtfType.DeclTag(tag.name(), ids.applyAsInt(tag.type()), tag.component(), tag.attribute());
        };
    }

    private static List<BtfType.Member> members(BtfType.Composite composite, IntUnaryOperator ids) {
        List<BtfType.Member> members = new ArrayList<>();
        for (BtfType.Member member : composite.members()) {
            members.add(new BtfType.Member(
                    member.name(), ids.applyAsInt(member.type()), member.bitOffset(), member.bitSize()));
        }
        return members;
    }
}
