package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Text;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.ObjectSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Loads objects into the kernel and unloads them: does this kernel take them? */
@Command(
        name = "load",
        description = {
            "Loads each BPF object into the kernel and unloads it again: would this kernel take it?",
            "Needs root, or CAP_BPF and CAP_PERFMON."
        },
        footer = {"  bpf4j load program.bpf.o", "  bpf4j load --json *.bpf.o | jq 'select(.ok | not)'"})
final class LoadCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--json", description = "One JSON object for each file.")
    private boolean json;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "BPF objects, as clang -target bpf -c makes them.")
    private List<Path> files = new ArrayList<>();

    LoadCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        boolean failed = false;
        for (Path file : files) {
            Outcome outcome = load(file);
            failed |= !outcome.ok();
            if (json) {
                console.line(outcome.json());
            } else if (outcome.ok()) {
                console.line(Text.printable(outcome.text()));
            } else {
                console.flush();
                console.error("bpf4j: " + outcome.text());
            }
        }
        return failed ? CommandTree.FAILED : CommandTree.OK;
    }

    private static Outcome load(Path file) {
        ObjectSpec spec;
        try {
            spec = ObjectSpec.read(InputFile.check(file));
        } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError e) {
            // Whatever is wrong with this file, and be it a defect of ours that it brings out: the next gets its turn.
            return new Outcome(file, "open", ErrorText.of(e), 0, 0);
        }
        try (BpfObject object = BpfLoader.of(spec).load()) {
            return new Outcome(
                    file, "load", null, object.programs().size(), object.maps().size());
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            return new Outcome(
                    file,
                    "load",
                    ErrorText.of(e),
                    spec.programs().size(),
                    spec.maps().size());
        }
    }

    /** What became of a file; {@code error} is null if it was loaded. */
    private record Outcome(
            Path file, String stage, @Nullable String error, int programs, int maps) {
        boolean ok() {
            return error == null;
        }

        String text() {
            if (error == null) {
                return file + ": " + Scans.count(programs, "program") + ", " + Scans.count(maps, "map") + " loaded";
            }
            return error.startsWith(file.toString()) ? error : file + ": " + error;
        }

        String json() {
            return new JsonLine()
                    .beginObject()
                    .field("file", file.toString())
                    .field("ok", ok())
                    .field("stage", stage)
                    .field("error", error)
                    .field("programs", programs)
                    .field("maps", maps)
                    .endObject()
                    .toString();
        }
    }
}
