package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Table;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.kernel.Feature;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows which features that bpf4j can use the running kernel has. */
@Command(
        name = "features",
        description = {
            "Shows what this kernel has of what bpf4j uses, and since when kernels have it.",
            "Each answer comes from trying, not from the version; needs root, or CAP_BPF and CAP_PERFMON.",
            "What this user may not try is shown as unknown (in JSON, supported is null)."
        },
        footer = {"  bpf4j features", "  bpf4j features --json | jq 'select(.supported == false)'"})
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
        Set<String> remedies = new LinkedHashSet<>();
        for (Feature feature : Feature.values()) {
            Support support = features.support(feature);
            String name = feature.name().toLowerCase(Locale.ROOT);
            if (json) {
                console.line(line(feature, name, support));
            } else {
                table.row(name, here(support), feature.since().toString(), feature.description(), shown(support));
            }
            if (support instanceof Support.Unknown unknown) {
                unknown.remedy().ifPresent(remedies::add);
            }
        }
        if (!json) {
            table.print(console);
            console.flush();
            remedies.forEach(remedy -> console.error("bpf4j: some could not be asked for: " + remedy));
        }
        return CommandTree.OK;
    }

    private static String line(Feature feature, String name, Support support) {
        JsonLine line = new JsonLine().beginObject().field("feature", name);
        switch (support) {
            case Support.Present _ -> line.field("supported", true);
            case Support.Absent _ -> line.field("supported", false);
            case Support.Unknown _ -> line.field("supported", null);
        }
        return line.field("since", feature.since().toString())
                .field("description", feature.description())
                .field("commit", feature.commit())
                .field("reason", support.reason())
                .endObject()
                .toString();
    }

    private static String here(Support support) {
        return switch (support) {
            case Support.Present _ -> "yes";
            case Support.Absent _ -> "no";
            case Support.Unknown _ -> "unknown";
        };
    }

    /** The advice is the same for most features, so it is printed once, at the end. */
    private static String shown(Support support) {
        return switch (support) {
            case Support.Unknown unknown ->
                new Support.Unknown(unknown.call(), unknown.errnoNumber(), Optional.empty()).reason();
            case Support.Present _, Support.Absent _ -> support.reason();
        };
    }
}
