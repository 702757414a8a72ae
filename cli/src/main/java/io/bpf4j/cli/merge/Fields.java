package io.bpf4j.cli.merge;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a record, each taken once. A field that is not taken is one of another version, whose meaning is
 * unknown; {@link #end} refuses it. <i>Confined.</i>
 */
final class Fields {
    private final Map<String, @Nullable Object> rest;

    Fields(Map<String, @Nullable Object> fields) {
        rest = new LinkedHashMap<>(fields);
    }

    /** The fields of an object in a list or a field. */
    static Fields of(@Nullable Object value, String description) {
        return new Fields(object(value, description));
    }

    @SuppressWarnings("unchecked") // the names of an object are strings
    private static Map<String, @Nullable Object> object(@Nullable Object value, String description) {
        if (!(value instanceof Map)) {
            throw new Refusal("has " + description + " that is not an object");
        }
        return (Map<String, @Nullable Object>) value;
    }

    boolean has(String name) {
        return rest.containsKey(name);
    }

    private Object take(String name) {
        Object value = rest.remove(name);
        if (value == null) {
            throw new Refusal("lacks the field '" + name + "'");
        }
        return value;
    }

    private static Refusal not(String name, String kind) {
        return new Refusal("has a field '" + name + "' that is not " + kind);
    }

    String text(String name) {
        if (take(name) instanceof String text) {
            return text;
        }
        throw not(name, "a string");
    }

    Optional<String> optionalText(String name) {
        return has(name) ? Optional.of(text(name)) : Optional.empty();
    }

    boolean flag(String name) {
        if (take(name) instanceof Boolean flag) {
            return flag;
        }
        throw not(name, "true or false");
    }

    Map<String, @Nullable Object> object(String name) {
        return object(take(name), "a field '" + name + "'");
    }

    List<?> list(String name) {
        if (take(name) instanceof List<?> list) {
            return list;
        }
        throw not(name, "a list");
    }

    /** The elements of a list of strings. */
    List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        for (Object each : list(name)) {
            if (!(each instanceof String text)) {
                throw not(name, "a list of strings");
            }
            texts.add(text);
        }
        return texts;
    }

    /** The elements of a list; empty if the record lacks it. */
    List<?> optionalList(String name) {
        return has(name) ? list(name) : List.of();
    }

    /** A number of events. */
    long count(String name) {
        if (take(name) instanceof Long count && count >= 0) {
            return count;
        }
        throw not(name, "a number of events, from 0 to 2^63 - 1");
    }

    /** A number of events; 0 if the record lacks it. */
    long optionalCount(String name) {
        return has(name) ? count(name) : 0;
    }

    /** A value of 64 bits. */
    long number(String name, boolean unsigned) {
        return switch (take(name)) {
            case Long number when !unsigned || number >= 0 -> number;
            case BigInteger number when unsigned -> number.longValue();
            default -> throw not(name, unsigned ? "an unsigned 64-bit number" : "a signed 64-bit number");
        };
    }

    /** Ends the record. */
    void end() {
        if (!rest.isEmpty()) {
            throw new Refusal("has the field "
                    + Refusal.quoted(rest.keySet().iterator().next())
                    + ", which this version can't merge");
        }
    }
}
