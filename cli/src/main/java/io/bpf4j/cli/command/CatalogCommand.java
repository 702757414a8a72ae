package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.usdt.ProbePattern;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Lists the probes whose arguments have names.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
@Command(
        name = "catalog",
        description = "Lists well-known probes with the names and types of their arguments, for use in expressions.",
        footer = {"  bpf4j catalog 'hotspot:gc*'", "  bpf4j catalog 'postgresql:*' --json"})
final class CatalogCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(
            arity = "0..1",
            paramLabel = "PROVIDER:NAME",
            description = "The probes to list; * and ? match any text. A name alone is that of a provider or a probe.")
    private String pattern = "*:*";

    @Option(names = "--json", description = "One JSON object for each probe.")
    private boolean json;

    CatalogCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        ProbePattern wanted = Operands.checked(ProbePattern::parse, pattern, pattern);
        Catalog catalog = UserCatalog.read();
        List<ProbeSignature> ofProvider =
                pattern.contains(":") ? List.of() : catalog.matching(new ProbePattern(pattern, "*"));
        List<ProbeSignature> found = ofProvider.isEmpty() ? catalog.matching(wanted) : ofProvider;
        if (found.isEmpty()) {
            throw new CommandException("the catalog has no provider or probe " + pattern + "; its providers are "
                    + catalog.probes().stream()
                            .map(ProbeSignature::provider)
                            .distinct()
                            .collect(Collectors.joining(", "))
                    + (ReadyCommand.groups().contains(pattern)
                            ? "; 'bpf4j " + pattern + "' lists the ready questions of that name"
                            : ""));
        }
        if (json) {
            found.forEach(probe -> console.line(json(probe)));
            return CommandTree.OK;
        }
        Table table = new Table("");
        for (ProbeSignature probe : found) {
            table.row(
                    probe.fullName()
                            + probe.arguments().stream()
                                    .map(ProbeArgument::name)
                                    .collect(Collectors.joining(", ", "(", ")")),
                    probe.description());
        }
        table.print(console);
        return CommandTree.OK;
    }

    private static String json(ProbeSignature probe) {
        JsonLine line = Records.begin("signature")
                .field("provider", probe.provider())
                .field("name", probe.name())
                .field("description", probe.description())
                .key("arguments")
                .beginArray();
        for (ProbeArgument argument : probe.arguments()) {
            line.beginObject()
                    .field("name", argument.name())
                    .field("type", type(argument.type()))
                    .endObject();
        }
        return line.endArray().endObject().toString();
    }

    private static String type(ArgumentType type) {
        return switch (type) {
            case ArgumentType.Int integer -> integer.number().toString();
            case ArgumentType.FloatingPoint(ValueType.FloatingPoint number) -> "f" + number.size() * Byte.SIZE;
            case ArgumentType.Bool _ -> "bool";
            case ArgumentType.Pointer _ -> "pointer";
            case ArgumentType.Text _ -> "text";
        };
    }
}
