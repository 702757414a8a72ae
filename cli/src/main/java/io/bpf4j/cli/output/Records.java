package io.bpf4j.cli.output;

/**
 * Records: the objects of JSON that the commands print, one a line. The first field of each is its type, so a reader
 * can tell rows from events and from the end. {@code docs/json.md} lists all types with their fields.
 *
 * <p>Tested by {@code CliJsonTest}.
 */
public final class Records {
    private Records() {}

    /** Begins a record of a type. */
    public static JsonLine begin(String type) {
        return new JsonLine().beginObject().field("type", type);
    }
}
