package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** {@code bpf4j} itself, which has subcommands and does nothing alone. */
@Command(
        name = "bpf4j",
        description = {
            "Loads BPF programs and traces USDT probes in pure Java, without libbpf and clang.",
        },
        synopsisSubcommandLabel = "COMMAND",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        scope = ScopeType.INHERIT,
        sortOptions = false,
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        parameterListHeading = "%nOperands:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  bpf4j demo",
            "  bpf4j list -p 4711",
            "  bpf4j trace -p 4711 'hotspot:gc__*'",
            "  bpf4j load program.bpf.o"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:success", "1:failure, explained on standard error", "2:wrong usage"})
final class RootCommand implements Runnable {
    /** The subcommands for users. */
    static final String COMMANDS =
            "demo, list, trace, count, hist, latency, top, stack, export, merge, catalog, load, inspect, generate, prog, "
                    + "map, link, btf, features, args, help, completion, man";

    @Option(
            names = "--debug",
            hidden = true,
            scope = ScopeType.INHERIT,
            description = "Print the stack trace of a failure; so does BPF4J_DEBUG=1.")
    private boolean debug;

    boolean debug() {
        return debug;
    }

    @Override
    public void run() {
        throw new UsageException("name a command: " + COMMANDS);
    }
}
