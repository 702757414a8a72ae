package io.bpf4j.bindings;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.lang.model.SourceVersion;

/**
 * Java names for names of C. The same names in the same order give the same result, whatever else an object has.
 * <i>Confined.</i>
 *
 * <p>Tested by {@code JavaNamesTest}.
 */
final class JavaNames {
    /** Methods of every object, and a word that can't be called without its object. */
    private static final Set<String> NO_METHODS = Set.of(
            "yield", "clone", "equals", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait");

    /**
     * The maximum length in characters: the file name of a doubly nested class contains all three names, in 255 bytes.
     */
    private static final int MAX_LENGTH = 100;

    private final Set<String> reserved;
    private final Set<String> used = new HashSet<>();

    /** The next number for a name that was used: without it, the time for many equal names would grow quadratically. */
    private final Map<String, Integer> next = new HashMap<>();

    /** @param reserved names that are taken */
    JavaNames(Set<String> reserved) {
        this.reserved = reserved;
    }

    /**
     * A unique name. A keyword or reserved name gets an underscore, a name that is used already a number. A name is cut
     * to {@link #MAX_LENGTH} characters.
     *
     * @param name a Java identifier, or a keyword
     */
    String claim(String name) {
        String cut = name.length() > MAX_LENGTH ? name.substring(0, MAX_LENGTH) : name;
        String free = isReserved(cut) ? cut + "_" : cut;
        while (isReserved(free) || !used.add(free)) {
            free = cut + next(cut, 2);
        }
        return free;
    }

    /** As {@link #claim(String)}, but if the name is reserved or used, {@code kind} is appended instead. */
    String claim(String name, String kind) {
        return isReserved(name) || used.contains(name) ? claim(name + kind) : claim(name);
    }

    /** A name with the first number that is free, from 1. */
    String claimNumbered(String name) {
        String free = name + next(name, 1);
        while (!used.add(free)) {
            free = name + next(name, 1);
        }
        return free;
    }

    private int next(String name, int first) {
        return next.merge(name, first, (number, _) -> number + 1);
    }

    private boolean isReserved(String name) {
        return SourceVersion.isKeyword(name) || NO_METHODS.contains(name) || reserved.contains(name);
    }

    /** {@code duration_ns} as {@code durationNs}, and {@code CONFIG_HZ} as {@code configHz}. */
    static String member(String name) {
        String type = type(name);
        return type.substring(0, 1).toLowerCase(Locale.ROOT) + type.substring(1);
    }

    /** {@code gc_event} as {@code GcEvent}. */
    static String type(String name) {
        StringBuilder java = new StringBuilder();
        for (String word : name.split("[^A-Za-z0-9]+", -1)) {
            if (word.isEmpty()) {
                continue;
            }
            String rest = word.substring(1);
            // A word in capitals only: a constant, or one letter, not camel case.
            boolean capitals = word.equals(word.toUpperCase(Locale.ROOT));
            java.append(word.substring(0, 1).toUpperCase(Locale.ROOT))
                    .append(capitals ? rest.toLowerCase(Locale.ROOT) : rest);
        }
        if (java.isEmpty()) {
            return "Unnamed";
        }
        return Character.isDigit(java.charAt(0)) ? "N" + java : java.toString();
    }

    /** The name of an enumerator, which stays as it is. */
    static String constant(String name) {
        String java = name.replaceAll("[^A-Za-z0-9_]", "_");
        return java.isEmpty() || java.equals("_") ? "UNNAMED" : Character.isDigit(java.charAt(0)) ? "_" + java : java;
    }
}
