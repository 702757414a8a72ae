package io.bpf4j.cli.command;

import java.util.List;
import java.util.Stack;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * The value of an option that takes expressions. It may start with a minus: {@code --show=-arg0}. picocli would parse
 * that as the option {@code -a} with a value. A value that is the name of an option is refused, because it means that
 * the expression was forgotten.
 */
final class ExpressionValue implements IParameterConsumer {
    @Override
    @SuppressWarnings("JdkObsolete") // picocli's stack
    public void consumeParameters(Stack<String> args, ArgSpec option, CommandSpec command) {
        String name = option instanceof OptionSpec named ? named.longestName() : option.paramLabel();
        if (args.isEmpty()) {
            throw new ParameterException(command.commandLine(), "Missing required parameter for option '" + name + "'");
        }
        if (command.optionsMap().containsKey(args.peek())) {
            throw new ParameterException(
                    command.commandLine(),
                    "Expected parameter for option '" + name + "' but found '" + args.peek() + "'");
        }
        String value = args.pop();
        if (option.isMultiValue()) {
            List<String> values = option.getValue();
            values.add(value);
        } else {
            option.setValue(value);
        }
    }
}
