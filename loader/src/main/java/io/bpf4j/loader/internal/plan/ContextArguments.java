package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.ProgramTraits;
import io.bpf4j.sys.kernel.Feature;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Arguments of global functions that a tag ({@code __arg_ctx}) marks as the program's context:
 *
 * <pre>
 *   __noinline int length(void *ctx __attribute__((btf_decl_tag("arg:ctx"))))
 * </pre>
 *
 * The verifier checks a global function separately and must know how it may use a pointer. Since Linux 6.8 it uses the
 * tag; older kernels use the name of the struct that the pointer is declared to point to, such as {@code struct
 * __sk_buff}. For older kernels the argument gets that type. The type depends on the program type of the callers; if
 * these differ, the argument is unchanged.
 */
final class ContextArguments {
    private static final String TAG = "arg:ctx";

    /** Far more than functions of BPF programs have (5); each tagged function gets a prototype of its own. */
    private static final int MAX_PARAMETERS = 32;

    private final ObjectSpec spec;
    private final Features features;
    private final Btf original;
    private final BtfBuilder result;
    private final Map<String, Integer> pointers = new HashMap<>();

    private ContextArguments(ObjectSpec spec, Features features, Btf original, BtfBuilder result) {
        this.spec = spec;
        this.features = features;
        this.original = original;
        this.result = result;
    }

    /** Gives tagged arguments the type of the context, if the kernel does not know the tag. */
    static void declare(ObjectSpec spec, Features features, Btf original, BtfBuilder result) {
        new ContextArguments(spec, features, original, result).declare();
    }

    private void declare() {
        Map<String, Set<Optional<String>>> callers = null;
        for (int id = Math.max(1, original.firstId()); id < original.typeCount(); id++) {
            if (original.kind(id) != BtfKind.DECL_TAG
                    || !(original.type(id) instanceof BtfType.DeclTag tag)
                    || !tag.name().equals(TAG)
                    || tag.component() < 0
                    || !(result.type(tag.type()) instanceof BtfType.Func function)
                    || function.linkage() == BtfType.Linkage.STATIC
                    || !(result.type(function.type()) instanceof BtfType.FuncProto proto)
                    || tag.component() >= proto.parameters().size()
                    || proto.parameters().size() > MAX_PARAMETERS) {
                continue;
            }
            if (callers == null) {
                // Probed only now: few objects have such tags.
                if (!features.lacks(Feature.ARGUMENT_TAGS)) {
                    return;
                }
                callers = callers();
            }
            Set<Optional<String>> contexts = callers.getOrDefault(function.name(), Set.of());
            if (contexts.size() == 1) {
                contexts.iterator().next().ifPresent(struct -> declare(tag, function, proto, struct));
            }
        }
    }

    /** Other functions may share the prototype: this function gets a copy. */
    private void declare(BtfType.DeclTag tag, BtfType.Func function, BtfType.FuncProto proto, String struct) {
        List<BtfType.Parameter> parameters = new ArrayList<>(proto.parameters());
        BtfType.Parameter argument = parameters.get(tag.component());
        int pointer = pointers.computeIfAbsent(struct, name -> result.pointer(result.struct(name, 0)));
        parameters.set(tag.component(), new BtfType.Parameter(argument.name(), pointer));
        int own = result.add(new BtfType.FuncProto(proto.returnType(), parameters));
        result.set(tag.type(), new BtfType.Func(function.name(), own, function.linkage()));
    }

    /** The contexts of the programs that each function is part of. */
    private Map<String, Set<Optional<String>>> callers() {
        Map<String, Set<Optional<String>>> callers = new HashMap<>();
        FunctionSlots places = new FunctionSlots(spec);
        for (ProgramSpec program : spec.programs()) {
            for (FunctionSpec function : places.of(program).keySet()) {
                callers.computeIfAbsent(function.name(), _ -> new HashSet<>())
                        .add(ProgramTraits.of(program.type()).context());
            }
        }
        return callers;
    }
}
