package io.bpf4j.loader.internal.attach;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The functions of a BTF object that are traceable according to their types: one function that is not traceable makes
 * the kernel reject a link for a thousand others.
 *
 * <p>The trampoline that calls the program copies the arguments, and has limits (btf_distill_func_proto() and
 * bpf_check_attach_btf_id_multi() in the kernel): 12 arguments of at most 16 bytes, no variable arguments, and a return
 * value of at most one register.
 *
 * <p>Tested by {@code TracingMultiKindTest}.
 */
final class TraceableFunctions {
    private static final int MAX_ARGUMENTS = 12; // MAX_BPF_FUNC_ARGS
    private static final int MAX_ARGUMENT_BYTES = 16;

    private TraceableFunctions() {}

    /** Ids by name, of the functions of this object, not of its base. Static functions may share a name. */
    static Map<String, List<Integer>> of(Btf types, Predicate<String> test) {
        Map<String, List<Integer>> found = new LinkedHashMap<>();
        for (int id = Math.max(1, types.firstId()); id < types.typeCount(); id++) {
            if (types.kind(id) == BtfKind.FUNC
                    && test.test(types.name(id))
                    && types.type(id) instanceof BtfType.Func function
                    && types.type(function.type()) instanceof BtfType.FuncProto prototype
                    && isTraceable(types, prototype)) {
                found.computeIfAbsent(types.name(id), _ -> new ArrayList<>()).add(id);
            }
        }
        return found;
    }

    private static boolean isTraceable(Btf types, BtfType.FuncProto prototype) {
        return prototype.parameters().size() <= MAX_ARGUMENTS
                && prototype.parameters().stream().allMatch(p -> isArgument(types, p.type()))
                && isReturned(types, prototype.returnType());
    }

    /** The last parameter of a function with variable arguments has type 0. */
    private static boolean isArgument(Btf types, int id) {
        if (id == 0) {
            return false;
        }
        return switch (types.type(types.resolve(id))) {
            case BtfType.Ptr _ -> true;
            case BtfType.Int number -> number.size() <= MAX_ARGUMENT_BYTES;
            case BtfType.Enumeration _ -> true;
            case BtfType.Composite struct -> struct.size() > 0 && struct.size() <= MAX_ARGUMENT_BYTES;
            default -> false;
        };
    }

    private static boolean isReturned(Btf types, int id) {
        if (id == 0) {
            return true;
        }
        int resolved = types.resolve(id);
        return resolved == 0
                || switch (types.type(resolved)) {
                    case BtfType.Ptr _, BtfType.Enumeration _ -> true;
                    case BtfType.Int number -> number.size() <= Long.BYTES;
                    default -> false;
                };
    }
}
