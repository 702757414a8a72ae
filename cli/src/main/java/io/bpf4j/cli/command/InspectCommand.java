package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.OutputClosedException;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Shows the content of object files. Does not use the kernel and needs no privilege.
 *
 * <p>Tested by {@code ObjectCommandsTest} and {@code CliTest}.
 */
@Command(
        name = "inspect",
        description =
                "Shows the content of BPF objects: programs, maps, globals, externs, relocations, BTF. Needs no root.",
        footer = {"  bpf4j inspect program.bpf.o", "  bpf4j inspect --json program.bpf.o | jq .maps"})
final class InspectCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--json", description = "One JSON object for each file.")
    private boolean json;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "BPF objects, as clang -target bpf -c makes them.")
    private List<Path> files = new ArrayList<>();

    InspectCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        boolean failed = false;
        for (Path file : files) {
            try {
                ObjectReport report =
                        new ObjectReport(ObjectSpec.read(InputFile.check(file), OpenFile.opener(Host.running())));
                if (json) {
                    console.line(report.json());
                } else {
                    report.print(console);
                }
            } catch (OutputClosedException e) {
                throw e;
            } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError e) {
                // After any failure with this file, continue with the next one.
                console.flush();
                console.error("bpf4j: " + ErrorText.of(e));
                failed = true;
            }
        }
        return failed ? CommandTree.FAILED : CommandTree.OK;
    }
}
