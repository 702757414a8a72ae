package io.bpf4j.core;

import io.bpf4j.btf.BtfType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The path from a root type to the target of a relocation, in one BTF.
 *
 * <p>Clang encodes it as indexes. For {@code &s[2].b.c[5]} of
 *
 * <pre>{@code
 * struct sample {
 *     int a;
 *     struct {          // index 1, anonymous
 *         int b0;
 *         struct { int c[10]; } b;
 *     };
 * };
 * }</pre>
 *
 * the access string is {@code 2:1:1:0:5}: element 2 of an array of the root (0 for a plain pointer), then indexes of
 * members and array elements. The <i>raw</i> path has all indexes. The <i>steps</i> leave out anonymous members,
 * because the target may nest them differently: {@code [2]} {@code b} {@code c} {@code [5]}. The steps are looked up in
 * the target by name.
 *
 * @param types the BTF that the path is in
 * @param root id of the root type
 * @param steps empty for type relocations; one named step for an enumeration's value
 * @param raw indexes as in the access string
 * @param bitOffset offset of the path's end from the start of the root, in bits; 0 except for fields
 */
record AccessPath(Types types, int root, CoreRelocationKind kind, List<Step> steps, List<Integer> raw, long bitOffset) {
    /** libbpf's limit (BPF_CORE_SPEC_MAX_LEN) for the length of an access string. */
    static final int MAX_LENGTH = 64;

    /** Maximum characters of an access string: indexes of at most ten digits, separated by colons. */
    private static final int MAX_CHARACTERS = MAX_LENGTH * 11;

    /** Characters of a path in messages. */
    private static final int MAX_TEXT = 1000;

    /** An instruction can hold a 32-bit count of bytes; this limit leaves room for sums. */
    private static final long MAX_BITS = 1L << 40;

    /**
     * A member, an array element or a value of an enumeration.
     *
     * @param type for a member, the struct that has it; for an element, the element's type; for a value, its
     *     enumeration
     * @param index of the member, element or value
     * @param name of the member or value; null for an element
     */
    record Step(int type, int index, @Nullable String name) {}

    AccessPath {
        steps = List.copyOf(steps);
        raw = List.copyOf(raw);
    }

    Step last() {
        return steps.getLast();
    }

    /** Reads a relocation's access string; throws {@link CoreException} if it is invalid. */
    static AccessPath parse(Types local, int root, String access, CoreRelocationKind kind) {
        return new Parser(local, root, access, kind).parse();
    }

    /**
     * The path in C syntax, such as {@code struct sample[2].b.c[5] (2:1:1:0:5 at 176)}. Truncated if names are longer
     * than compilers produce: thousands of relocations may share a name of thousands of characters, and each stores its
     * text.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(describe(types, root));
        if (kind.subject() == CoreRelocationKind.Subject.ENUM_VALUE) {
            return truncate(text.append("::").append(last().name()));
        }
        for (int i = 0; i < steps.size() && text.length() <= MAX_TEXT; i++) {
            Step step = steps.get(i);
            if (step.name() != null) {
                text.append('.').append(step.name());
            } else if (i > 0 || step.index() > 0) {
                text.append('[').append(step.index()).append(']');
            }
        }
        return truncate(text);
    }

    private static String truncate(StringBuilder text) {
        if (text.length() > MAX_TEXT) {
            text.setLength(MAX_TEXT);
            text.append('…');
        }
        return text.toString();
    }

    static String describe(Types types, int id) {
        String name = types.btf().name(id);
        return types.btf().kind(id).toString().toLowerCase(Locale.ROOT) + " " + (name.isEmpty() ? "(anonymous)" : name);
    }

    /** Whether an array may be indexed beyond its end in C: the last member, declared without elements. */
    static boolean isFlexible(Types types, BtfType.Array array, Step before) {
        return before.name() != null
                && array.count() == 0
                && types.type(before.type()) instanceof BtfType.Composite c
                && before.index() == c.members().size() - 1;
    }

    private static final class Parser {
        private final Types types;
        private final int root;
        private final String access;
        private final CoreRelocationKind kind;
        private final List<Step> steps = new ArrayList<>();
        private final List<Integer> raw;
        private long bitOffset;

        Parser(Types types, int root, String access, CoreRelocationKind kind) {
            this.types = types;
            this.root = root;
            this.access = access;
            this.kind = kind;
            this.raw = indexes();
        }

        private List<Integer> indexes() {
            if (access.length() > MAX_CHARACTERS) {
                throw invalid("it has more than " + MAX_CHARACTERS + " characters");
            }
            String[] parts = access.split(":", MAX_LENGTH + 1);
            if (parts.length > MAX_LENGTH) {
                throw invalid("it has more than " + MAX_LENGTH + " indexes");
            }
            List<Integer> indexes = new ArrayList<>(parts.length);
            for (String part : parts) {
                try {
                    indexes.add(Integer.parseInt(part));
                } catch (NumberFormatException e) {
                    throw invalid("\"" + part + "\" is not an index");
                }
                if (indexes.getLast() < 0) {
                    throw invalid("\"" + part + "\" is not an index");
                }
            }
            return indexes;
        }

        AccessPath parse() {
            switch (kind.subject()) {
                case TYPE -> {
                    if (raw.size() != 1 || raw.getFirst() != 0) {
                        throw invalid("for a type it should be 0");
                    }
                }
                case ENUM_VALUE -> enumValue();
                case FIELD -> field();
            }
            return new AccessPath(types, root, kind, steps, raw, bitOffset);
        }

        private void enumValue() {
            int id = types.resolve(root);
            if (raw.size() != 1
                    || !(types.type(id) instanceof BtfType.Enumeration e)
                    || raw.getFirst() >= e.values().size()) {
                throw invalid("it does not select a value of an enumeration");
            }
            int index = raw.getFirst();
            steps.add(new Step(id, index, e.values().get(index).name()));
        }

        private void field() {
            int id = types.resolve(root);
            steps.add(new Step(id, raw.getFirst(), null));
            advance(raw.getFirst(), id);
            for (int i = 1; i < raw.size(); i++) {
                id = types.resolve(id);
                int index = raw.get(i);
                switch (types.type(id)) {
                    case BtfType.Composite c -> {
                        if (index >= c.members().size()) {
                            throw invalid("there is no member " + index + " in " + describe(types, id));
                        }
                        BtfType.Member member = c.members().get(index);
                        bitOffset += member.bitOffset();
                        if (!member.name().isEmpty()) {
                            steps.add(new Step(id, index, member.name()));
                        }
                        id = member.type();
                    }
                    case BtfType.Array a -> {
                        if (index >= a.count() && !isFlexible(types, a, steps.getLast())) {
                            throw invalid("there is no element " + index + " in an array of " + a.count());
                        }
                        id = types.resolve(a.elementType());
                        steps.add(new Step(id, index, null));
                        advance(index, id);
                    }
                    case BtfType other ->
                        throw invalid("index " + index + " applies to a " + other.kind()
                                + ", which has no members or elements");
                }
            }
        }

        private void advance(int index, int type) {
            if (index != 0) {
                bitOffset += elementBits(types, index, type);
            }
        }

        private CoreException invalid(String problem) {
            return new CoreException("CO-RE " + kind.text() + " of " + describe(types, root) + " [" + root + "] of "
                    + types.btf().source() + ": access string \""
                    + (access.length() <= MAX_CHARACTERS ? access : access.substring(0, 20) + "…") + "\": " + problem);
        }
    }

    /** The size of {@code index} elements of a type in bits; limited, so that sums along a path can't overflow. */
    static long elementBits(Types types, int index, int type) {
        long size = types.size(type);
        if (size > MAX_BITS / 8 / index) {
            throw new CoreException("element " + index + " of type " + type + " of "
                    + types.btf().source() + ", of " + size
                    + " bytes each, has an offset that is too large for a field");
        }
        return size * index * 8;
    }
}
