package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The files and the probe patterns among the operands of {@code list} and {@code trace}.
 *
 * <p>What holds a colon and isn't an existing file is a pattern {@code PROVIDER:NAME}; with a slash as well it can only
 * be a file that doesn't exist. <i>Immutable.</i>
 */
record Operands(List<Path> files, List<String> patterns) {
    static Operands of(List<String> operands) {
        List<Path> files = new ArrayList<>();
        List<String> patterns = new ArrayList<>();
        for (String operand : operands) {
            if (operand.isEmpty()) {
                throw new UsageException("an operand is empty");
            }
            if (isPattern(operand)) {
                patterns.add(checkPattern(operand));
            } else {
                files.add(path(operand));
            }
        }
        return new Operands(List.copyOf(files), List.copyOf(patterns));
    }

    private static boolean isPattern(String operand) {
        return operand.contains(":") && !operand.contains("/") && !Files.exists(path(operand));
    }

    private static String checkPattern(String operand) {
        int colon = operand.indexOf(':');
        if (colon == 0 || colon == operand.length() - 1 || operand.indexOf(':', colon + 1) >= 0) {
            throw new UsageException("'" + operand + "' is not PROVIDER:NAME; * and ? match any text in each");
        }
        return operand;
    }

    private static Path path(String operand) {
        try {
            return Path.of(operand);
        } catch (InvalidPathException e) {
            throw new CommandException(operand + ": not a file name: " + e.getReason(), e);
        }
    }
}
