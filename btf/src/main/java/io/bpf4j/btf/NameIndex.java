package io.bpf4j.btf;

import io.bpf4j.elf.internal.text.CString;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Finds the types of one BTF by name.
 *
 * <p>A hash table with chains in two int arrays, over the bytes of the names: a kernel has about 150,000 named types,
 * and a program looks up a few dozen, so creating a String for each would cost more than all look-ups. The key is the
 * {@linkplain EssentialName essential name}, which CO-RE uses; a look-up by the full name filters the result.
 *
 * <p>Chains run in ascending order of id. The types of the base of a split BTF are in the index of the base; the names
 * of the split BTF's own types may lie in the strings of the base.
 *
 * <p>Names with equal hash codes are easy to make ({@code Aa} and {@code BB}), and so are many flavours of one name. A
 * hundred thousand look-ups in a chain of as many types would take ten billion comparisons. So a look-up may pass
 * {@value #PASSED_PER_LOOKUP} types with other names, on average. Chains of well-formed types have one or two names.
 * <i>Thread-safe:</i> all but the count of passed types is immutable.
 *
 * <p>Tested by {@code BtfLargeTest} and {@code BtfTest}.
 */
final class NameIndex {
    /** How many types with other names a look-up may pass, on average; with real BTF it passes 0 or 1. */
    static final int PASSED_PER_LOOKUP = 64;

    /** How many types the first look-ups may pass in addition. */
    private static final long PASSED_INITIALLY = 1 << 22;

    private final Btf btf;
    /** By bucket: 1 + index of the first type, 0 for none. */
    private final int[] heads;
    /** By index of a type: 1 + index of the next type in its bucket. */
    private final int[] next;
    /** How many types may still be passed. */
    private final AtomicLong allowance = new AtomicLong(PASSED_INITIALLY);

    /** Indexes the types that {@code btf} adds to its base; {@code btf} must already resolve names. */
    NameIndex(Btf btf) {
        this.btf = btf;
        int count = btf.ownTypeCount();
        this.heads = new int[Math.max(16, Integer.highestOneBit(count + 1) * 2)];
        this.next = new int[count];
        // Names may overlap: many names within one long string would take hours.
        long bytes = 256L * count + 16L * btf.bytes().stringsSize();
        for (int i = count - 1; i >= 0; i--) {
            int name = btf.nameOffset(i);
            if (name != 0) {
                BtfBytes strings = btf.stringsWith(name);
                int start = btf.placeOf(name);
                int nameEnd = strings.nameEnd(start);
                bytes -= nameEnd - start;
                if (bytes < 0) {
                    throw btf.bytes()
                            .malformed(0, "the names of the types together are too long, because they overlap");
                }
                int end = EssentialName.end(strings.array(), start, nameEnd);
                int bucket = bucket(strings.array(), start, end);
                next[i] = heads[bucket];
                heads[bucket] = i + 1;
            }
        }
    }

    private int bucket(byte[] array, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = hash * 31 + array[i];
        }
        hash ^= hash >>> 15;
        return hash & (heads.length - 1);
    }

    /** Ids of the types with the essential name of {@code name}, or, if {@code exact}, with exactly that name. */
    int[] ids(String name, boolean exact) {
        byte[] wanted = CString.encode(name);
        int essential = EssentialName.end(wanted, 0, wanted.length);
        int[] found = new int[4];
        int count = 0;
        int passed = 0;
        for (int i = heads[bucket(wanted, 0, essential)]; i != 0; i = next[i - 1]) {
            int offset = btf.nameOffset(i - 1);
            BtfBytes strings = btf.stringsWith(offset);
            byte[] array = strings.array();
            int start = btf.placeOf(offset);
            int nameEnd = strings.nameEnd(start);
            int end = exact ? nameEnd : EssentialName.end(array, start, nameEnd);
            if (Arrays.equals(array, start, end, wanted, 0, exact ? wanted.length : essential)) {
                if (count == found.length) {
                    found = Arrays.copyOf(found, count * 2);
                }
                found[count++] = btf.firstId() + i - 1;
            } else {
                passed++;
            }
        }
        spend(passed);
        return Arrays.copyOf(found, count);
    }

    /** The first type with exactly that name and kind; 0 if there is none. */
    int first(String name, BtfKind kind) {
        byte[] wanted = CString.encode(name);
        int essential = EssentialName.end(wanted, 0, wanted.length);
        int passed = 0;
        int i = heads[bucket(wanted, 0, essential)];
        while (i != 0 && !(btf.kind(btf.firstId() + i - 1) == kind && isNamed(i, wanted))) {
            passed++;
            i = next[i - 1];
        }
        spend(passed);
        return i == 0 ? 0 : btf.firstId() + i - 1;
    }

    private boolean isNamed(int link, byte[] wanted) {
        int offset = btf.nameOffset(link - 1);
        BtfBytes strings = btf.stringsWith(offset);
        int start = btf.placeOf(offset);
        return Arrays.equals(strings.array(), start, strings.nameEnd(start), wanted, 0, wanted.length);
    }

    private void spend(int passed) {
        if (allowance.addAndGet(PASSED_PER_LOOKUP - passed) < 0) {
            throw btf.bytes()
                    .malformed(0, "so many types have names of equal hash codes that looking them up takes too long");
        }
    }
}
