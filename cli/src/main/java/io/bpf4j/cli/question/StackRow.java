package io.bpf4j.cli.question;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Text;
import io.bpf4j.trace.NamedStacks;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import java.util.List;
import java.util.Map;

/**
 * A stack with its names, as {@code stack} prints it. <i>Immutable.</i>
 *
 * <p>Tested by {@code CliStackTest} and {@code MergeCommandTest}.
 *
 * @param frames the functions, the innermost first
 * @param cut whether outer frames are missing
 */
public record StackRow(Map<String, Object> key, List<String> frames, boolean cut, long count) {
    /** Prints the stack for people. */
    public void print(Console console, Paint paint) {
        console.line(paint.strong(count + (key.isEmpty() ? "" : " " + AnswerValues.text(key))));
        frames.forEach(frame -> console.line("    " + Text.printable(frame)));
        if (cut) {
            console.line("    " + NamedStacks.CUT);
        }
        console.line("");
    }

    /**
     * Adds the stack to others. Its frames are names alone, so functions of the kernel and of a just-in-time compiler
     * are not told from others.
     */
    public void addTo(StackCounts counts) {
        List<Frame> functions = frames.stream()
                .map(name -> new Frame(0, name, "", 0, "", Frame.Source.SYMBOLS))
                .toList();
        counts.add(cut ? NamedStacks.CUT : "", functions, List.of(), count);
    }

    /** The stack as a record. */
    public String json() {
        JsonLine line = Records.begin("row").key("key");
        AnswerValues.json(line, key);
        line.key("frames").beginArray();
        frames.forEach(line::value);
        line.endArray().field("count", count);
        return (cut ? line.field("cut", true) : line).endObject().toString();
    }
}
