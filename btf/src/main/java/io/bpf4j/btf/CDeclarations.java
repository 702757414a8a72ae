package io.bpf4j.btf;

import io.bpf4j.elf.MalformedDataException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * C declarations of BTF types: {@code vmlinux.h}, a header with the types of a kernel, or the types of an object.
 *
 * <pre>{@code
 * try (Writer header = Files.newBufferedWriter(Path.of("vmlinux.h"))) {
 *     CDeclarations.of(BtfFile.read(Path.of("/sys/kernel/btf/vmlinux"))).header("__VMLINUX_H__", header);
 * }
 * }</pre>
 *
 * <p>A compiler gives each type the size, and each member the offset, that it has in the BTF: padding and {@code
 * packed} are added where the types alone would not give it. A struct that C can't have, such as some of Rust's, is
 * declared as bytes. A declaration follows all that it needs. If two types have the same name, the second is called
 * {@code name___2}. In names that are not identifiers other characters become underscores, so no text of the BTF
 * becomes code. Names that are macros of a compiler stay: GCC for a Linux machine has {@code linux} and {@code unix},
 * unless it is told {@code -std=c11}. Of attributes only {@code btf_type_tag} is written, and of functions only {@link
 * #header} writes some.
 *
 * <p>The text is for GCC and clang on 64-bit machines. It has no alignment beyond that of the members, because BTF does
 * not have it.
 *
 * <p>Tested by {@code CDeclarationsTest} and {@code CDeclarationsOnKernelTest}.
 */
public final class CDeclarations {
    /**
     * How much is written about a type. A pointer to a struct needs only {@code struct x;} before it, a member the
     * whole struct; this is what makes cycles of C types possible. A typedef is complete if the type that it names is.
     */
    private enum Step {
        DECLARE,
        COMPLETE
    }

    private static final int MAX_NESTING = 64;

    /** The tags that pahole gives functions of the kernel, from the kernel's lists of them (BTF_KFUNCS_START). */
    private static final String KERNEL_FUNCTION = "bpf_kfunc";

    private static final String FAST_CALL = "bpf_fastcall";

    private final Btf btf;

    private CDeclarations(Btf btf) {
        this.btf = btf;
    }

    public static CDeclarations of(Btf btf) {
        return new CDeclarations(btf);
    }

    /**
     * A C expression for a declaration: {@code int (*probe)(struct device *dev)} for the name {@code probe}. A struct
     * without a name is written in full.
     *
     * @param id a type, not a section or a tag
     * @param name may be empty, for the type alone
     * @throws MalformedDataException if the BTF is malformed
     */
    public String declaration(int id, String name) {
        BtfType type = btf.type(id);
        int declared = switch (type) {
            case BtfType.Func function -> function.type();
            case BtfType.Var variable -> variable.type();
            default -> id;
        };
        return new CText(btf).variable(declared, name.isEmpty() ? "" : CNames.identifier(name));
    }

    /**
     * Writes the declarations of all types, without those of the base that none of them needs.
     *
     * @throws MalformedDataException if the BTF is malformed; part of the text is written then
     */
    public void write(Appendable out) throws IOException {
        new Run(out).writeAll();
    }

    /**
     * Writes the declarations of types, and of all that they need.
     *
     * @throws MalformedDataException as {@link #write(Appendable)}
     */
    public void write(Collection<Integer> ids, Appendable out) throws IOException {
        Run run = new Run(out);
        for (int id : ids) {
            run.root(id);
        }
    }

    /**
     * Writes a header of all types, for programs that clang compiles for BPF: with an include guard, and with the
     * attribute by which clang records each access to a struct, so that the loader can relocate it. {@code #define
     * BPF_NO_PRESERVE_ACCESS_INDEX} switches that off.
     *
     * <p>Behind the types are prototypes of the functions of the kernel that programs may call, if the BTF marks them by
     * the tag {@code bpf_kfunc} (Linux 6.10, made with pahole 1.27). All are weak, so that a program can check whether
     * there is one: {@code if (bpf_cpumask_create)}. {@code #define BPF_NO_KFUNC_PROTOTYPES} leaves them out, for a
     * program that declares such functions itself with other types.
     *
     * @param guard the macro of the include guard
     */
    public void header(String guard, Appendable out) throws IOException {
        String macro = CNames.identifier(guard);
        out.append("#ifndef ").append(macro).append("\n#define ").append(macro).append("\n\n");
        out.append("#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n");
        out.append("#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)\n");
        out.append("#endif\n\n");
        Run run = new Run(out);
        run.writeAll();
        run.writeKernelFunctions();
        out.append("#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n#pragma clang attribute pop\n#endif\n\n");
        out.append("#endif /* ").append(macro).append(" */\n");
    }

    /** One text. <i>Confined.</i> */
    private final class Run {
        private final Appendable out;
        private final CText text = new CText(btf);

        /** By id: which steps are done, and which are begun and wait for what they need. */
        private final BitSet declared = new BitSet();

        private final BitSet completed = new BitSet();
        private final BitSet begun = new BitSet();

        Run(Appendable out) {
            this.out = out;
        }

        void writeAll() throws IOException {
            BitSet used = used();
            for (int id = btf.firstId(); id < btf.typeCount(); id++) {
                if (btf.type(id) instanceof BtfType.Enumeration constants
                        && constants.name().isEmpty()) {
                    if (!used.get(id)) {
                        line(text.constants(id));
                    }
                } else {
                    root(id);
                }
            }
        }

        /** Prototypes of the functions that are tagged as callable, by name so that headers can be compared. */
        void writeKernelFunctions() throws IOException {
            SortedMap<String, Integer> callable = new TreeMap<>();
            BitSet fast = new BitSet();
            for (int id = btf.firstId(); id < btf.typeCount(); id++) {
                if (btf.type(id) instanceof BtfType.DeclTag tag
                        && tag.component() == -1
                        && btf.type(tag.type()) instanceof BtfType.Func function
                        // A function of another name can't be called from C.
                        && CNames.identifier(function.name()).equals(function.name())) {
                    if (tag.name().equals(KERNEL_FUNCTION)) {
                        callable.putIfAbsent(function.name(), tag.type());
                    } else if (tag.name().equals(FAST_CALL)) {
                        fast.set(tag.type());
                    }
                }
            }
            if (callable.isEmpty()) {
                return;
            }
            // Many functions may have one prototype with many parameters: what was seen is written, and not collected
            // again.
            BitSet seen = new BitSet();
            List<Need> needs = new ArrayList<>();
            for (int id : callable.values()) {
                collect(((BtfType.Func) btf.type(id)).type(), false, needs, seen, 0);
                for (Need need : needs) {
                    write(need);
                }
                needs.clear();
            }
            out.append("#ifndef BPF_NO_KFUNC_PROTOTYPES\n");
            macro("__ksym", "__attribute__((section(\".ksyms\")))");
            macro("__weak", "__attribute__((weak))");
            if (!fast.isEmpty()) {
                out.append("#ifndef __bpf_fastcall\n#if __has_attribute(bpf_fastcall)\n");
                out.append("#define __bpf_fastcall __attribute__((bpf_fastcall))\n");
                out.append("#else\n#define __bpf_fastcall\n#endif\n#endif\n");
            }
            for (Map.Entry<String, Integer> each : callable.entrySet()) {
                BtfType.Func function = (BtfType.Func) btf.type(each.getValue());
                out.append("extern ").append(fast.get(each.getValue()) ? "__bpf_fastcall " : "");
                out.append(text.variable(function.type(), each.getKey())).append(" __weak __ksym;\n");
            }
            out.append("#endif\n\n");
        }

        /** The headers of BPF programs define these macros by the same text, and some do so without looking. */
        private void macro(String name, String value) throws IOException {
            out.append("#ifndef ").append(name).append("\n#define ").append(name);
            out.append(" ").append(value).append("\n#endif\n");
        }

        /** The ids that other types refer to. */
        private BitSet used() {
            BitSet used = new BitSet();
            for (int id = btf.firstId(); id < btf.typeCount(); id++) {
                switch (btf.type(id)) {
                    case BtfType.Composite type -> type.members().forEach(member -> used.set(member.type()));
                    case BtfType.Typedef type -> used.set(type.type());
                    case BtfType.Ptr type -> used.set(type.type());
                    case BtfType.Array type -> used.set(type.elementType());
                    case BtfType.Modifier type -> used.set(type.type());
                    case BtfType.FuncProto type -> {
                        used.set(type.returnType());
                        type.parameters().forEach(parameter -> used.set(parameter.type()));
                    }
                    default -> {}
                }
            }
            return used;
        }

        private void line(String line) throws IOException {
            out.append(line).append("\n\n");
        }

        /** A type and all that it needs; nothing for a type that stands only in others. */
        void root(int id) throws IOException {
            switch (btf.type(id)) {
                case BtfType.Composite type when !type.name().isEmpty() -> write(new Need(id, Step.COMPLETE));
                case BtfType.Enumeration type when !type.name().isEmpty() -> write(new Need(id, Step.COMPLETE));
                case BtfType.Typedef type when !CText.isBuiltIn(type) -> write(new Need(id, Step.DECLARE));
                default -> {
                    // The type has no name, so it is written where it is used.
                }
            }
        }

        /** Depth first, with an explicit stack: structs may be nested as deep as a file has types. */
        private void write(Need first) throws IOException {
            Deque<Pending> stack = new ArrayDeque<>();
            push(stack, first);
            while (!stack.isEmpty()) {
                Pending top = stack.getLast();
                if (top.next < top.needs.size()) {
                    push(stack, top.needs.get(top.next++));
                } else {
                    stack.removeLast();
                    finish(top.need);
                }
            }
        }

        private void push(Deque<Pending> stack, Need need) {
            if (isDone(need)) {
                return;
            }
            int key = key(need);
            if (begun.get(key)) {
                throw new MalformedDataException(
                        btf.source(),
                        0,
                        "type " + need.id + ", " + btf.kind(need.id) + " " + btf.name(need.id) + ", contains itself");
            }
            begun.set(key);
            List<Need> needs = new ArrayList<>();
            switch (btf.type(need.id)) {
                case BtfType.Composite type when need.step == Step.COMPLETE -> members(type, needs, new BitSet(), 0);
                case BtfType.Typedef type -> collect(type.type(), need.step == Step.COMPLETE, needs, new BitSet(), 0);
                default -> {}
            }
            stack.addLast(new Pending(need, needs));
        }

        private static int key(Need need) {
            return 2 * need.id + (need.step == Step.COMPLETE ? 1 : 0);
        }

        private boolean isDone(Need need) {
            return need.step == Step.COMPLETE
                    ? completed.get(need.id)
                    : declared.get(need.id) || completed.get(need.id);
        }

        private void finish(Need need) throws IOException {
            begun.clear(key(need));
            if (isDone(need)) {
                return;
            }
            if (btf.kind(need.id) == BtfKind.TYPEDEF) {
                if (!declared.get(need.id)) {
                    line(text.typedef(need.id));
                }
                declared.set(need.id);
                if (need.step == Step.COMPLETE) {
                    completed.set(need.id);
                }
            } else if (need.step == Step.COMPLETE) {
                line(text.definitionOf(need.id));
                completed.set(need.id);
            } else {
                line(text.forward(need.id));
                declared.set(need.id);
            }
        }

        private void members(BtfType.Composite type, List<Need> needs, BitSet seen, int nesting) {
            for (BtfType.Member member : type.members()) {
                int plain = btf.resolve(member.type());
                if (member.name().isEmpty() && btf.type(plain) instanceof BtfType.Composite inner) {
                    // Written in full, even if it has a name.
                    anonymous(plain, inner, needs, seen, nesting);
                } else {
                    collect(member.type(), true, needs, seen, nesting);
                }
            }
        }

        private void anonymous(int id, BtfType.Composite type, List<Need> needs, BitSet seen, int nesting) {
            if (nesting > MAX_NESTING) {
                throw new MalformedDataException(
                        btf.source(), 0, "type " + id + " has more than " + MAX_NESTING + " levels of types");
            }
            if (!seen.get(id)) {
                seen.set(id);
                members(type, needs, seen, nesting + 1);
            }
        }

        /**
         * Collects the types that must be declared before a type is used.
         *
         * @param complete whether its size must be known
         * @param seen types without a name that are in the list
         */
        private void collect(int id, boolean complete, List<Need> needs, BitSet seen, int nesting) {
            if (nesting > MAX_NESTING) {
                throw new MalformedDataException(
                        btf.source(), 0, "type " + id + " has more than " + MAX_NESTING + " levels of types");
            }
            boolean whole = complete;
            int current = id;
            for (int step = 0; step <= 4 * MAX_NESTING; step++) {
                switch (btf.type(current)) {
                    case BtfType.Modifier type -> current = type.type();
                    case BtfType.Ptr type -> {
                        whole = false;
                        current = type.type();
                    }
                    case BtfType.Array type -> {
                        whole = true;
                        current = type.elementType();
                    }
                    case BtfType.FuncProto type -> {
                        if (seen.get(current)) {
                            return;
                        }
                        seen.set(current);
                        for (BtfType.Parameter parameter : type.parameters()) {
                            collect(parameter.type(), false, needs, seen, nesting + 1);
                        }
                        whole = false;
                        current = type.returnType();
                    }
                    case BtfType.Composite type
                    when type.name().isEmpty() -> {
                        anonymous(current, type, needs, seen, nesting + 1);
                        return;
                    }
                    case BtfType.Enumeration type
                    when type.name().isEmpty() -> {
                        return;
                    }
                    case BtfType.Enumeration _ -> {
                        needs.add(new Need(current, Step.COMPLETE));
                        return;
                    }
                    case BtfType.Typedef type when CText.isBuiltIn(type) -> current = type.type();
                    case BtfType.Composite _, BtfType.Typedef _ -> {
                        needs.add(new Need(current, whole ? Step.COMPLETE : Step.DECLARE));
                        return;
                    }
                    case BtfType.Fwd _ -> {
                        needs.add(new Need(text.definition(current), Step.DECLARE));
                        return;
                    }
                    default -> {
                        return;
                    }
                }
            }
            throw new MalformedDataException(
                    btf.source(), 0, "type " + id + " is a chain of too many types; it may refer to itself");
        }
    }

    private record Need(int id, Step step) {}

    /** A type on the stack. */
    private static final class Pending {
        private final Need need;
        private final List<Need> needs;
        private int next;

        Pending(Need need, List<Need> needs) {
            this.need = need;
            this.needs = needs;
        }
    }
}
