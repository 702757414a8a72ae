package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Parameters;

/**
 * A command about objects that can be pinned, and that are named by an id, a pin or a name.
 *
 * <p>Tested by {@code CliInspectionTest}.
 */
abstract class PinnableCommand extends KernelObjectCommand {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "WORD",
            description = "What to do: list (the default), show, dump or pin.")
    private String word = "list";

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "OBJECT",
            description = "A number is the kernel's id, a text with a slash the path of a pin, other text a name. "
                    + "For pin, the path of the new pin follows.")
    private List<String> operands = new ArrayList<>();

    PinnableCommand(Console console) {
        super(console);
    }

    abstract void pin(String object, Path path) throws IOException;

    @Override
    public final Integer call() throws IOException {
        return run(word, operands);
    }

    @Override
    final void other(String other, List<String> its) throws IOException {
        if (!other.equals("pin")) {
            throw new UsageException("'" + other + "' is not list, show, dump or pin");
        }
        expect(other, its.size() == 2, "an object and the path of the new pin");
        pin(its.getFirst(), path(its.getLast()));
    }

    /**
     * The Java launcher changes the bytes of a name that is not valid text, so that it could be the name of another
     * object.
     */
    private static Path path(String operand) {
        if (operand.indexOf('\ufffd') >= 0) {
            throw new CommandException(operand + InputFile.encoding(operand));
        }
        return Operands.checked(Path::of, operand, operand);
    }

    /**
     * How objects of a kind are found and opened.
     *
     * @param byPin the object that is pinned at a path
     * @param nameOf the name that the kernel keeps of an object; empty if objects of the kind have none
     */
    record Source<T>(
            KernelObjects<T> loaded, Function<Path, T> byPin, Function<T, String> nameOf, ToIntFunction<T> idOf) {
        /** Opens the object of an operand, which the caller closes. */
        T open(String operand) {
            if (KernelObjects.isId(operand)) {
                return loaded.byId(operand);
            }
            return operand.indexOf('/') >= 0 ? byPin(path(operand)) : byName(operand);
        }

        private T byPin(Path path) {
            try {
                return byPin.apply(path);
            } catch (IllegalArgumentException e) {
                throw new CommandException(String.valueOf(e.getMessage()), e); // of another kind
            }
        }

        private T byName(String name) {
            List<String> found = new ArrayList<>();
            loaded.forEach(object -> {
                if (nameOf.apply(object).equals(name)) {
                    found.add(Integer.toString(idOf.applyAsInt(object)));
                }
            });
            if (found.isEmpty()) {
                throw new CommandException("no " + loaded.kind() + " has the name '" + name + "'"
                        + (name.length() > 15 ? "; the kernel keeps the first 15 bytes of a name" : ""));
            }
            if (found.size() > 1) {
                throw new CommandException(
                        "several objects have the name '" + name + "'; use an id: " + String.join(", ", found));
            }
            return loaded.byId(found.getFirst());
        }
    }
}
