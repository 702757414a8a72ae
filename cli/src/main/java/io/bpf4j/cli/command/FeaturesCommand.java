package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Table;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.kernel.Feature;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows what the running kernel has, of what bpf4j can use. */
@Command(
        name = "features",
        description = {
            "Shows what this kernel has of what bpf4j uses, and since when kernels have it.",
            "Each answer comes from trying, not from the version; needs root, or CAP_BPF and CAP_PERFMON."
        },
        footer = {"  bpf4j features", "  bpf4j features --json | jq 'select(.supported | not)'"})
final class FeaturesCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--json", description = "One JSON object for each feature.")
    private boolean json;

    FeaturesCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Features features = Features.ofRunningKernel();
        Table table = new Table("").row("FEATURE", "HERE", "SINCE", "WHAT", "HOW IT SHOWS");
        for (Feature feature : Feature.values()) {
            Support support = features.support(feature);
            String name = feature.name().toLowerCase(Locale.ROOT);
            if (json) {
                console.line(new JsonLine()
                        .beginObject()
                        .field("feature", name)
                        .field("supported", support.supported())
                        .field("since", feature.since().toString())
                        .field("description", feature.description())
                        .field("commit", feature.commit())
                        .field("reason", support.reason())
                        .endObject()
                        .toString());
            } else {
                table.row(
                        name,
                        support.supported() ? "yes" : "no",
                        feature.since().toString(),
                        feature.description(),
                        support.reason());
            }
        }
        if (!json) {
            table.print(console);
        }
        return CommandTree.OK;
    }
}
