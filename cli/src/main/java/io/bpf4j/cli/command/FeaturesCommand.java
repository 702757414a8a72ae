package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.insn.Helper;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelFeature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Shows which of the features that bpf4j uses the running kernel has.
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliRightsTest}.
 */
@Command(
        name = "features",
        description = {
            "Shows which of the features that bpf4j uses this kernel has, and which kernel introduced each.",
            "Each feature is tried, not derived from the version; needs root, or CAP_BPF and CAP_PERFMON. With "
                    + "--types it shows program types, map types and attach types, too; networking needs "
                    + "CAP_NET_ADMIN. A feature that this user may not try is shown as unknown (in JSON, supported "
                    + "is null)."
        },
        footer = {
            "  bpf4j features",
            "  bpf4j features --helpers xdp",
            "  bpf4j features --json | jq 'select(.supported == false)'"
        })
final class FeaturesCommand implements Callable<Integer> {
    private final Console console;

    @Option(names = "--types", description = "Also program types, map types and attach types.")
    private boolean types;

    @Option(
            names = "--helpers",
            paramLabel = "TYPE",
            description = "Only the helpers for programs of a type, such as xdp.")
    private @Nullable ProgramType caller;

    @Option(names = "--json", description = "One JSON object for each feature.")
    private boolean json;

    FeaturesCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Features features = Features.ofRunningKernel();
        Table table = new Table("").row("FEATURE", "SUPPORTED", "SINCE", "DESCRIPTION", "REASON");
        Set<String> remedies = new LinkedHashSet<>();
        for (KernelFeature any : listed()) {
            Support support = features.support(any);
            if (json) {
                console.line(line(any, support));
            } else {
                String since = any instanceof Feature feature ? feature.since().toString() : "";
                table.row(name(any), supported(support), since, description(any), reason(support));
            }
            if (support instanceof Support.Unknown unknown) {
                unknown.remedy().ifPresent(remedies::add);
            }
        }
        if (!json) {
            table.print(console);
            console.flush();
            remedies.forEach(remedy -> console.error("bpf4j: some features could not be tested: " + remedy));
        }
        return CommandTree.OK;
    }

    private List<KernelFeature> listed() {
        if (caller == ProgramType.EXT || caller == ProgramType.STRUCT_OPS) {
            throw new UsageException("--helpers: the helpers of type " + name(caller) + " depend on the attach target");
        }
        if (caller != null) {
            return Helper.all().stream()
                    .map(helper -> (KernelFeature) new KernelFeature.Call(caller, helper))
                    .toList();
        }
        List<KernelFeature> all = new ArrayList<>(List.of(Feature.values()));
        if (types) {
            all.addAll(List.of(ProgramType.values()).subList(1, ProgramType.values().length)); // without UNSPEC
            all.addAll(List.of(MapType.values()));
            all.addAll(List.of(AttachType.values()));
        }
        return all;
    }

    private static String name(KernelFeature any) {
        return switch (any) {
            case KernelFeature.Call call -> call.helper().name();
            case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT);
        };
    }

    private static String description(KernelFeature any) {
        return switch (any) {
            case Feature feature -> feature.description();
            case ProgramType _ -> "program type";
            case MapType _ -> "map type";
            case AttachType _ -> "attach type";
            case KernelFeature.Call call -> "helper for " + name(call.from());
        };
    }

    private static String line(KernelFeature any, Support support) {
        JsonLine line = Records.begin("feature").field("feature", name(any));
        switch (support) {
            case Support.Present _ -> line.field("supported", true);
            case Support.Absent _ -> line.field("supported", false);
            case Support.Unknown _ -> line.field("supported", null);
        }
        line.field("description", description(any)).field("reason", support.reason());
        if (any instanceof Feature feature) {
            line.field("since", feature.since().toString()).field("commit", feature.commit());
        }
        return line.endObject().toString();
    }

    private static String supported(Support support) {
        return switch (support) {
            case Support.Present _ -> "yes";
            case Support.Absent _ -> "no";
            case Support.Unknown _ -> "unknown";
        };
    }

    /** The remedy is the same for most features, so it is printed once, at the end. */
    private static String reason(Support support) {
        return switch (support) {
            case Support.Unknown unknown ->
                new Support.Unknown(unknown.call(), unknown.errnoNumber(), Optional.empty()).reason();
            case Support.Present _, Support.Absent _ -> support.reason();
        };
    }
}
