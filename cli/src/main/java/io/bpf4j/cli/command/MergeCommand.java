package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.merge.MergedAnswer;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.picture.StackPicture;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Adds up answers. Does not use the kernel and needs no privilege.
 *
 * <p>Tested by {@code MergeCommandTest} and {@code CliMergeTest}.
 */
@Command(
        name = "merge",
        description = {
            "Adds up what count, hist, latency, stack and top have printed with --json, such as on several machines.",
            "Prints the answer that one question would have had about all their events: counts by key, histograms by "
                    + "bucket, stacks by functions; with --json, so that it can be merged again. Refuses answers of "
                    + "different questions, and incomplete ones. Needs no root."
        },
        footer = {
            "  bpf4j merge web1.json web2.json",
            "  for h in web1 web2; do ssh -n $h sudo -n bpf4j count --all a:sale --duration 9 --json > $h.json & done; wait",
            "  bpf4j merge --json eu/*.json > eu.json",
            "  bpf4j merge --html locks.html web1.json web2.json"
        })
final class MergeCommand implements Callable<Integer> {
    private static final String STANDARD_INPUT = "-";

    private final Console console;

    @Option(names = "--json", description = "Print the sum as the commands print an answer, one JSON object per line.")
    private boolean json;

    @Option(names = "--folded", description = "Of stacks: print a line for each, as flame graph tools read it.")
    private boolean folded;

    @Mixin
    private final ColorOption color = new ColorOption();

    @Mixin
    private final AnswerFiles pictures = new AnswerFiles();

    @Spec
    private @Nullable CommandSpec command;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE",
            description = "Files or pipes with answers, any number in each; - and none mean standard input.")
    private List<Path> files = new ArrayList<>();

    MergeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        if (folded && json) {
            throw new UsageException("--folded and --json exclude each other: give one");
        }
        pictures.check();
        MergedAnswer merged = new MergedAnswer();
        Map<Object, Path> read = new HashMap<>();
        for (Path file : files.isEmpty() ? List.of(Path.of(STANDARD_INPUT)) : files) {
            add(file, read, merged);
        }
        if (folded) {
            merged.printFolded(console);
        } else {
            merged.print(console, json, color.paint(console));
        }
        if (pictures.areGiven()) {
            console.flush(); // a signal may end the write of a large page
            draw(merged);
        }
        return CommandTree.OK;
    }

    private void draw(MergedAnswer merged) {
        AnswerPage page = merged.page(ReadyCommand.shell(Objects.requireNonNull(command, "set by picocli")
                .root()
                .commandLine()
                .getParseResult()
                .originalArgs()));
        if (merged.isOfStacks()) {
            StackPicture picture = merged.picture();
            pictures.write(writer -> picture.html(page, writer), writer -> picture.svg(page, writer));
        } else {
            pictures.write(page::html, page::svg);
        }
    }

    private void add(Path file, Map<Object, Path> read, MergedAnswer merged) throws IOException {
        boolean input = file.toString().equals(STANDARD_INPUT);
        // Unix identifies each file by device and inode, which also tells other names of it.
        Path before = read.putIfAbsent(input ? STANDARD_INPUT : identity(file), file);
        if (before != null) {
            throw new UsageException("'" + file + "' is the same as '" + before + "', so its events would count twice");
        }
        if (input) {
            merged.addAll("standard input", console.in());
            return;
        }
        try (Reader text = Text.utf8(Files.newInputStream(file))) {
            merged.addAll(file.toString(), text);
        }
    }

    private static Object identity(Path file) {
        if (file.toString().isEmpty()) {
            throw new CommandException("the name of a file is empty");
        }
        @Nullable Object key = InputFile.readable(file).fileKey();
        return key == null ? file : key;
    }
}
