package io.bpf4j.btf;

/**
 * The part of a type's name by which types of two BTFs are compared.
 *
 * <p>In C a struct name is unique, but a program may need several shapes of a kernel struct, because kernels differ. So
 * the text after {@code ___} is a <i>flavour</i> and is not compared: {@code task_struct___old} and {@code
 * task_struct___x86} both mean the kernel's {@code task_struct}. The separator is the last {@code ___} between two
 * characters that are not underscores: {@code a___b___c} means {@code a___b}, and {@code ____x} has no flavour.
 *
 * <p>Tested by {@code CoreMatchingTest}.
 */
final class EssentialName {
    private EssentialName() {}

    /** The name without its flavour. */
    static String of(String name) {
        for (int i = name.length() - 5; i >= 0; i--) {
            if (name.charAt(i) != '_'
                    && name.charAt(i + 1) == '_'
                    && name.charAt(i + 2) == '_'
                    && name.charAt(i + 3) == '_'
                    && name.charAt(i + 4) != '_') {
                return name.substring(0, i + 1);
            }
        }
        return name;
    }

    /** Like {@link #of} for bytes {@code start..end}: the end of the essential part. */
    static int end(byte[] bytes, int start, int end) {
        // Most names do not contain three underscores; a middle byte that is not one rules out two places.
        for (int i = end - 5; i >= start; i--) {
            if (bytes[i + 2] != '_') {
                i--;
            } else if (bytes[i] != '_' && bytes[i + 1] == '_' && bytes[i + 3] == '_' && bytes[i + 4] != '_') {
                return i + 1;
            }
        }
        return end;
    }
}
