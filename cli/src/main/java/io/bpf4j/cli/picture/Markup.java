package io.bpf4j.cli.picture;

import io.bpf4j.cli.output.Text;

/**
 * Escapes text for HTML and SVG. Names come from processes and files of other owners, who may name a process {@code
 * <script>}: the name is shown and has no effect.
 *
 * <p>Tested by {@code AnswerPageTest}.
 */
final class Markup {
    private Markup() {}

    /** Escapes text between tags, or the value of an attribute in double quotes. */
    static String text(String name) {
        return Text.printable(name)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
