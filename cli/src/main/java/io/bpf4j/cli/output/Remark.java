package io.bpf4j.cli.output;

import io.bpf4j.sys.Diagnostic;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A fact that a reader needs to judge an answer: a {@link Diagnostic} of the library, or a sentence of the command.
 * <i>Immutable.</i>
 *
 * @param kind what it means for the answer; empty for a sentence of the command
 * @param subject empty if there is no single one
 * @param message a sentence that is complete without the subject
 */
public record Remark(Optional<Diagnostic.Kind> kind, String subject, String message) {
    public static Remark of(Diagnostic diagnostic) {
        return new Remark(Optional.of(diagnostic.kind()), diagnostic.subject(), diagnostic.message());
    }

    public static Remark of(String message) {
        return new Remark(Optional.empty(), "", message);
    }

    /** The name of a kind in JSON. */
    public static String name(Diagnostic.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** Adds a list of remarks to a record, if there are some: the form of all commands. */
    public static JsonLine json(JsonLine line, String name, List<Remark> remarks) {
        if (!remarks.isEmpty()) {
            line.key(name).beginArray();
            for (Remark remark : remarks) {
                line.beginObject();
                remark.kind.ifPresent(kind -> line.field("kind", name(kind)));
                if (!remark.subject.isEmpty()) {
                    line.field("subject", remark.subject);
                }
                line.field("message", remark.message).endObject();
            }
            line.endArray();
        }
        return line;
    }
}
