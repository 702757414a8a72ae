package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Table;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Option;

/**
 * What the commands about loaded programs, maps, links and BTF have in common: the words list, show and dump, which are
 * operands, as the names of ready questions are.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
abstract class KernelObjectCommand implements Callable<Integer> {
    final Console console;

    @Option(names = "--json", description = "One JSON object for each line.")
    boolean json;

    KernelObjectCommand(Console console) {
        this.console = console;
    }

    /** Shows all objects in a table. */
    abstract void list() throws IOException;

    /** Shows all about one object. */
    abstract void show(String object) throws IOException;

    /** Shows what is in an object. */
    abstract void dump(String object) throws IOException;

    /** Does what only some of the commands do. */
    abstract void other(String word, List<String> operands) throws IOException;

    final int run(String word, List<String> operands) throws IOException {
        switch (word) {
            case "list" -> {
                expect(word, operands.isEmpty(), "no operand");
                list();
            }
            case "show" -> {
                expect(word, !operands.isEmpty(), "the objects to show");
                for (String object : operands) {
                    show(object);
                }
            }
            case "dump" -> {
                expect(word, operands.size() == 1, "one object");
                dump(operands.getFirst());
            }
            default -> other(word, operands);
        }
        return CommandTree.OK;
    }

    /** Prints the objects, unless they were printed as JSON. */
    final void printList(Table table) {
        if (!json) {
            table.print(console, Paint.NONE);
        }
    }

    static void expect(String word, boolean fits, String operands) {
        if (!fits) {
            throw new UsageException("'" + word + "' takes " + operands);
        }
    }
}
