package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The functions that a program consists of, and the slot where each starts.
 *
 * <p>The entry comes first. Each function follows at its first use; the functions that it uses come directly after it,
 * before the next use in the caller's body. This is libbpf's order, so that both loaders give the kernel the same code.
 * The exception callback comes last, because no instruction refers to it: a tag on the program names it ({@code
 * __exception_cb(handler)}, Linux 6.7), and the verifier looks for it in the program's function information.
 *
 * <p><i>Confined</i>; one per load of an object.
 */
final class FunctionSlots {
    /** BPF_COMPLEXITY_LIMIT_INSNS of the kernel: no program of more instructions was ever accepted. */
    private static final int MAX_SLOTS = 1_000_000;

    /**
     * A limit for all programs of an object together. A few programs that share a large function are small in a file
     * and large in memory; sixteen programs of the largest size that a kernel accepts are more than real objects have.
     */
    private static final long MAX_ALL_SLOTS = 16_000_000;

    /** The cost of a function besides its instructions, counted in instructions. */
    private static final int FUNCTION_COST = 16;

    /** The tag that the verifier's bpf_find_exception_callback_insn_off() looks for (kernel/bpf/btf.c). */
    private static final String CALLBACK = "exception_callback:";

    private final ObjectSpec spec;
    private final Map<Integer, Map<Integer, FunctionSpec>> functions = new HashMap<>();
    private final Map<String, Set<String>> callbacks;
    private final Map<String, FunctionSpec> global = new HashMap<>();
    private final Map<String, FunctionSpec> named = new HashMap<>();
    private long allSlots;

    FunctionSlots(ObjectSpec spec) {
        this.spec = spec;
        this.callbacks = spec.btf().map(FunctionSlots::callbacks).orElse(Map.of());
        for (FunctionSpec function : spec.functions()) {
            // Calls name the offset. Of aliases, which share one, the caller may have replaced the code of one.
            functions
                    .computeIfAbsent(function.section(), _ -> new HashMap<>())
                    .merge(function.slot(), function, (one, other) -> one.replaced() ? one : other);
            named.putIfAbsent(function.name(), function);
            if (!function.hidden()) {
                global.putIfAbsent(function.name(), function);
            }
        }
    }

    /** The functions of a program in order, each with the slot where it starts. */
    Map<FunctionSpec, Integer> of(ProgramSpec program) {
        Map<FunctionSpec, Integer> slots = new LinkedHashMap<>();
        int end = place(program, program.function(), slots, 0);
        // At most one in a program that the verifier accepts; the verifier reports more than one itself.
        for (String callback : callbacks.getOrDefault(program.function().name(), Set.of())) {
            end = place(program, callback(program, callback), slots, end);
        }
        return slots;
    }

    /** Whether the limit for all programs together was exceeded, which is a problem of the last program placed. */
    boolean areTooLarge() {
        return allSlots > MAX_ALL_SLOTS;
    }

    /** The function that a reference in another function leads to. */
    FunctionSpec target(FunctionSpec caller, CodeReference.ToFunction reference) {
        FunctionSpec callee =
                functions.getOrDefault(reference.section(), Map.of()).get(reference.slot());
        if (callee == null) {
            throw new InvalidObjectException(spec.source() + ": function \"" + caller.name() + "\": instruction "
                    + reference.instruction() + " calls slot " + reference.slot() + " of section "
                    + reference.section() + ", where no function starts");
        }
        return callee;
    }

    /** The function that a reference by name leads to. */
    FunctionSpec target(FunctionSpec caller, CodeReference.ToNamedFunction reference) {
        FunctionSpec callee = named.get(reference.name());
        if (callee == null) {
            throw new InvalidObjectException(spec.source() + ": function \"" + caller.name()
                    + "\" refers to unknown function \"" + reference.name() + "\"");
        }
        return callee;
    }

    /**
     * Places a function and all functions that it uses, unless they are already placed. Not recursive: an object may
     * have chains of calls that would overflow the stack.
     *
     * @return the slot after the last function
     */
    private int place(ProgramSpec program, FunctionSpec first, Map<FunctionSpec, Integer> slots, int start) {
        int end = start;
        Deque<Iterator<FunctionSpec>> open = new ArrayDeque<>();
        open.push(List.of(first).iterator());
        while (!open.isEmpty()) {
            if (!open.peek().hasNext()) {
                open.pop();
                continue;
            }
            FunctionSpec function = open.peek().next();
            if (slots.putIfAbsent(function, end) != null) {
                continue;
            }
            end += function.size();
            allSlots += function.size() + FUNCTION_COST;
            List<FunctionSpec> used = new ArrayList<>();
            for (CodeReference reference : function.references()) {
                switch (reference) {
                    case CodeReference.ToFunction other -> used.add(target(function, other));
                    case CodeReference.ToNamedFunction other -> used.add(target(function, other));
                    // Each program gets its own copy of a jump table.
                    case CodeReference.ToJumpTable table ->
                        allSlots += table.slots().size();
                    default -> {}
                }
            }
            if (allSlots > MAX_ALL_SLOTS) {
                throw new InvalidObjectException(
                        spec.source() + ": the programs and the functions that they call have together more than "
                                + MAX_ALL_SLOTS + " instructions and entries of jump tables");
            }
            if (end > MAX_SLOTS) {
                throw new InvalidObjectException(spec.source() + ": program \"" + program.name()
                        + "\" and the functions that it calls have more than " + MAX_SLOTS
                        + " instructions, which no kernel accepts");
            }
            open.push(used.iterator());
        }
        return end;
    }

    /** The names of exception callbacks in tags of functions, by function. */
    private static Map<String, Set<String>> callbacks(Btf types) {
        Map<String, Set<String>> callbacks = new HashMap<>();
        for (int id = types.firstId(); id < types.typeCount(); id++) {
            if (types.kind(id) == BtfKind.DECL_TAG
                    && types.type(id) instanceof BtfType.DeclTag tag
                    && tag.component() == -1
                    && tag.name().startsWith(CALLBACK)
                    && types.type(tag.type()) instanceof BtfType.Func function) {
                callbacks
                        .computeIfAbsent(function.name(), _ -> new LinkedHashSet<>())
                        .add(tag.name().substring(CALLBACK.length()));
            }
        }
        return callbacks;
    }

    private FunctionSpec callback(ProgramSpec program, String name) {
        FunctionSpec function = global.get(name);
        if (function == null) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program.name() + "\" names \"" + name
                    + "\" as its exception callback, which is not a global function of the object");
        }
        return function;
    }
}
