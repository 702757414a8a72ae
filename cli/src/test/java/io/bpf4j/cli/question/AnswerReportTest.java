package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import io.bpf4j.trace.Answer;
import java.io.ByteArrayOutputStream;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AnswerReportTest {
    /** A process chooses its name, and a file the names of its probes and functions. */
    @Test
    void anEventIsOneLineWithoutControlCharacters() {
        Answer.Event event = new Answer.Event(
                1, "u:\u001b[2J", 47, 48, "\nbpf4j: \u202e", 0, Map.of("str(arg0)", "a\u001b\n\u0085"), false);
        assertThat(printed(event, false)).isEqualTo("u:\\x1b[2J 47/48 \\nbpf4j: \\u{202e} str(arg0)=a\\x1b\\n\\x85\n");
        assertThat(printed(event, true))
                .doesNotContain("\u001b", "\u202e", "\u0085")
                .hasLineCount(1);
    }

    @Test
    void anEventWhoseValuesCouldNotBeReadSaysSo() {
        Answer.Event event = new Answer.Event(1, "u:work", 47, 48, "work", 0, Map.of(), true);
        assertThat(printed(event, false)).isEqualTo("u:work 47/48 work ? (a value could not be read)\n");
        assertThat(printed(event, true)).contains("\"values\":null");
    }

    private static String printed(Answer.Event event, boolean json) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
        new AnswerReport(console, json).event(event);
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }
}
