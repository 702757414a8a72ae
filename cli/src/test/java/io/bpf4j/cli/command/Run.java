package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The outcome of a command that ran inside the test. */
record Run(int code, List<String> out, List<String> err) {
    static Run of(String... args) {
        return withInput("", args);
    }

    static Run withInput(String input, String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        Console console = new Console(out, err, new StringReader(input));
        int code = new CommandTree(console, new Interruption()).run(args);
        return new Run(
                code,
                out.toString(StandardCharsets.UTF_8).lines().toList(),
                err.toString().lines().toList());
    }
}
