package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.link.LinkGroup;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The other end of {@link io.bpf4j.cli.trace.LinkHandover}: takes over the links of a process that ends. For internal
 * use.
 */
@Command(name = "adopt", hidden = true, description = "Takes the links of a process and closes them when it is gone.")
final class AdoptCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(paramLabel = "PID")
    private int pid;

    AdoptCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        try (LinkGroup links = Links.adopt(pid)) {
            console.line(Integer.toString(links.size()));
            console.flush();
            // The other process sends no more input, so the input ends when that process ends.
            String _ = console.in().readLine();
            return CommandTree.OK;
        }
    }
}
