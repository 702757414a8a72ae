package io.bpf4j.cli.command;

import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ReadyQuestion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Scripts that complete the command line in a shell, made from picocli's model. They complete commands, options, ready
 * questions and named values, and processes, commands and files where an option takes one.
 *
 * <p>Why not picocli's own script: it is for bash only, which zsh emulates, without descriptions, and it completes
 * neither files among the operands nor processes.
 *
 * <p>Tested by {@code CompletionScriptTest} and {@code CliCompletionTest}.
 */
final class CompletionScript {
    private final CommandSpec root;
    private final List<CommandSpec> commands;
    private final Catalog catalog;

    /** Names that need no quotes in a script. A user's own catalog may have other names, which are not completed. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_.+-]+");

    /**
     * A script.
     *
     * @param root the command with all subcommands
     * @param catalog the catalog with the questions
     */
    CompletionScript(CommandSpec root, Catalog catalog) {
        this.root = root;
        this.catalog = catalog;
        this.commands = CommandText.commands(root).stream()
                .filter(command -> PLAIN.matcher(command.name()).matches())
                .toList();
    }

    /**
     * The script for bash, which splits words at {@code =}, and completes file names where the function finds nothing.
     */
    String bash() {
        return BASH.replace("@QUESTIONS@", cases(2, questionsByCommand(), "command=%s ;;"::formatted))
                .replace("@VALUES@", cases(2, values(), CompletionScript::bashValues))
                .replace("@OPTIONS@", cases(4, words(CompletionScript::optionNames), "words='%s' ;;"::formatted))
                .replace("@NAMES@", cases(4, words(this::operandNames), "words='%s' ;;"::formatted));
    }

    private static final String BASH = """
            # Completion of bpf4j for bash, made by 'bpf4j completion bash'.
            _bpf4j() {
              local IFS=$' \\t\\n'
              local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
              local command= question= words= i
              if [ "$current" = = ]; then
                current=
              elif [ "$previous" = = ]; then
                previous=${COMP_WORDS[COMP_CWORD - 2]}
              fi
              for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                  -*) ;;
                  *)
                    [ -z "$command" ] || { question=${COMP_WORDS[i]}; break; }
                    command=${COMP_WORDS[i]}
                    ;;
                esac
              done
              COMPREPLY=()
              case $command:$question in
            @QUESTIONS@  esac
              case $command:$previous in
            @VALUES@  esac
              case $current in
                -*) case $command in
            @OPTIONS@    esac ;;
                *) case $command in
            @NAMES@    esac ;;
              esac
              COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -o bashdefault -o default -F _bpf4j bpf4j
            """;

    private static String bashValues(String kind) {
        return switch (kind) {
            case "PID" ->
                "COMPREPLY=($(compgen -W \"$(cd /proc && printf '%s\\n' [0-9]*)\" -- \"$current\")); return ;;";
            case "CMD" -> "COMPREPLY=($(compgen -c -- \"$current\")); return ;;";
            case "FILE" -> "return ;;";
            case "" -> "compopt +o default +o bashdefault 2>/dev/null; return ;;";
            default -> "COMPREPLY=($(compgen -W '" + kind + "' -- \"$current\")); return ;;";
        };
    }

    /** The script for zsh, which also shows the descriptions. */
    String zsh() {
        StringBuilder commandsAndHelp = new StringBuilder();
        StringBuilder arguments = new StringBuilder();
        for (CommandSpec command : commands) {
            commandsAndHelp
                    .append("    ")
                    .append(quoted(command.name() + ":" + CommandText.headline(CommandText.description(command))))
                    .append('\n');
            arguments.append("        ").append(command.name()).append(")\n          _arguments -s");
            CommandText.options(command).forEach(option -> arguments.append(zshOption(option)));
            String names = operandNames(command);
            arguments
                    .append(" \\\n            ")
                    .append(quoted(names.isEmpty() ? "*: :_files" : "1:question:(" + names + ")"))
                    .append(names.isEmpty() ? "" : " \\\n            '*:: :->question'")
                    .append("\n          ;;\n");
        }
        return ZSH.replace("@COMMANDS@", commandsAndHelp)
                .replace("@ARGUMENTS@", arguments)
                .replace("@QUESTIONS@", cases(6, questionsByCommand(), "command=%s ;;"::formatted));
    }

    private static final String ZSH = """
            #compdef bpf4j
            # Completion of bpf4j for zsh, made by 'bpf4j completion zsh'.
            _bpf4j() {
              local context state state_descr line command
              typeset -A opt_args
              local -a commands=(
            @COMMANDS@  )
              _arguments -C '(- *)'{-h,--help}'[show the help]' '(- *)'{-V,--version}'[print the version]' \\
                '1:command:->command' '*:: :->arguments'
              case $state in
                command) _describe command commands ;;
                arguments)
                  command=$words[1]
                  case $words[1]:$words[2] in
            @QUESTIONS@      esac
                  [[ $command == $words[1] ]] || { shift words; ((CURRENT--)); }
                  _bpf4j_arguments $command
                  ;;
              esac
            }
            _bpf4j_arguments() {
              case $1 in
            @ARGUMENTS@  esac
            }
            if [[ $funcstack[1] == _bpf4j ]]; then
              _bpf4j "$@"
            else
              compdef _bpf4j bpf4j
            fi
            """;

    private static String zshOption(OptionSpec option) {
        StringBuilder text = new StringBuilder();
        for (String name : option.names()) {
            String help = "["
                    + CommandText.headline(CommandText.description(option)).replaceAll("[\\[\\]\\\\]", "\\\\$0") + "]";
            // Long options take --name=value as well.
            String form = !CommandText.takesValue(option)
                    ? name + help
                    : name + (name.startsWith("--") ? "=" : "") + help + ":"
                            + option.paramLabel().replaceAll("[\\[\\]:\\\\]", "\\\\$0") + ":" + zshValues(kind(option));
            text.append(" \\\n            ").append(quoted((option.isMultiValue() ? "*" : "") + form));
        }
        return text.toString();
    }

    private static String zshValues(String kind) {
        return switch (kind) {
            case "PID" -> "_pids";
            case "CMD" -> "_command_names -e";
            case "FILE" -> "_files";
            case "" -> " ";
            default -> "(" + kind + ")";
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }

    /** The kind of completion for the value of an option: PID, CMD, FILE, words, or none. */
    private static String kind(OptionSpec option) {
        List<String> values = CommandText.values(option);
        if (!values.isEmpty()) {
            return String.join(" ", values);
        }
        return switch (option.paramLabel()) {
            case "PID", "CMD", "FILE" -> option.paramLabel();
            case TargetOptions.PROCESSES -> "PID";
            case "DIR", "BTF" -> "FILE";
            default -> option.type() == Path.class ? "FILE" : "";
        };
    }

    private static String optionNames(CommandSpec command) {
        return CommandText.options(command).stream()
                .flatMap(option -> Stream.of(option.names()))
                .collect(Collectors.joining(" "));
    }

    /** The names that an operand may be: those of commands, or of the questions of a group. */
    private String operandNames(CommandSpec command) {
        if (command.parent() == null) {
            return commands.stream().map(CommandSpec::name).collect(Collectors.joining(" "));
        }
        return switch (command.name()) {
            case "completion" -> "bash zsh";
            case "prog", "map", "link" -> "list show dump pin";
            case "btf" -> "list show dump minimize";
            case "help" -> commands.stream().map(CommandSpec::name).collect(Collectors.joining(" "));
            default ->
                questions()
                        .filter(question -> question.group().equals(command.name()))
                        .map(ReadyQuestion::name)
                        .collect(Collectors.joining(" "));
        };
    }

    /** The questions of each group, whose name is a command. A group with the name of another command is left out. */
    private Stream<ReadyQuestion> questions() {
        Set<String> groups = commands.stream()
                .filter(command -> command.userObject() instanceof ReadyCommand)
                .map(CommandSpec::name)
                .collect(Collectors.toSet());
        return catalog.questions().stream()
                .filter(question -> groups.contains(question.group())
                        && PLAIN.matcher(question.name()).matches()
                        && PLAIN.matcher(question.command().getFirst()).matches());
    }

    /**
     * For each command, the questions that stand for it, as {@code group:question}. They take the command's options.
     */
    private Map<String, List<String>> questionsByCommand() {
        return questions()
                .collect(Collectors.groupingBy(
                        question -> question.command().getFirst(),
                        LinkedHashMap::new,
                        Collectors.mapping(question -> question.group() + ":" + question.name(), Collectors.toList())));
    }

    /** The options as {@code command:option}, by the kind of completion for their values. */
    private Map<String, List<String>> values() {
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (CommandSpec command : commands) {
            for (OptionSpec option : CommandText.options(command)) {
                if (CommandText.takesValue(option)) {
                    for (String name : option.names()) {
                        values.computeIfAbsent(kind(option), _ -> new ArrayList<>())
                                .add(command.name() + ":" + name);
                    }
                }
            }
        }
        return values;
    }

    /** The commands by their words. The empty command stands for a command line without a command. */
    private Map<String, List<String>> words(Function<CommandSpec, String> words) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        Stream.concat(Stream.of(root), commands.stream())
                .forEach(command -> all.computeIfAbsent(words.apply(command), _ -> new ArrayList<>())
                        .add(command.parent() == null ? "''" : command.name()));
        all.remove("");
        return all;
    }

    /** The branches of a shell's {@code case}. */
    private static String cases(int indent, Map<String, List<String>> patterns, UnaryOperator<String> branch) {
        return patterns.entrySet().stream()
                .map(entry -> " ".repeat(indent + 2) + String.join(" | ", entry.getValue()) + ") "
                        + branch.apply(entry.getKey()) + "\n")
                .collect(Collectors.joining());
    }
}
