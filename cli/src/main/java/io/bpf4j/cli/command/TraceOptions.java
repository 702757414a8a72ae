package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.process.hold.PausedProcesses;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The options of {@code trace}. <i>Confined.</i>
 *
 * <p>Tested by {@code CommandTreeTest} and {@code CliUsageTest}.
 */
final class TraceOptions {
    @Mixin
    private final TargetOptions target = new TargetOptions();

    @Option(
            names = "--str",
            paramLabel = "N[:M]",
            description = "Show argument N (from 0) as a string: NUL-terminated, or of the length in argument M.")
    private List<String> strings = new ArrayList<>();

    @Mixin
    private final FilterOption filter = new FilterOption();

    @Option(
            names = "--show",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR[,…]",
            description = "Show these values instead of the arguments: 'name, arg1 / 1KiB, str(arg2)'.")
    private List<String> show = new ArrayList<>();

    @Option(names = "--count", paramLabel = "N", description = "End after N events.")
    private @Nullable Long count;

    @Mixin
    private final BufferOption buffer = new BufferOption();

    @Option(
            names = "--lossless",
            description = "With -p or -c: pause the process by SIGSTOP when half of the ring buffer is full, so that no"
                    + " event is lost. If SIGKILL ends bpf4j during a pause, 'kill -CONT PID' continues the"
                    + " process.")
    private boolean lossless;

    private List<TextArgument> stringArgs = List.of();

    /**
     * Checks the options before anything is done.
     *
     * @throws UsageException if they don't fit together
     */
    void check() throws IOException {
        target.check();
        if (!target.functions().isEmpty() && !isQuestion()) {
            throw new UsageException("the arguments of a function are not known: give --show with values of "
                    + target.functions().getFirst().name() + ", such as 'arg0, str(arg1)', or 'retval' at its return");
        }
        Long most = count;
        if (most != null && most <= 0) {
            throw new UsageException("--count takes a number of events, 1 or more");
        }
        filter.check();
        stringArgs = stringArgs();
        int _ = buffer.bytes();
        checkLossless();
        if (!show.isEmpty() && !stringArgs.isEmpty()) {
            throw new UsageException("--str applies to the probe's own arguments; with --show write str(arg"
                    + stringArgs.getFirst().pointer() + ")");
        }
    }

    private void checkLossless() {
        if (!lossless) {
            return;
        }
        if (target.process().isEmpty() && target.command().isEmpty()) {
            throw new UsageException(
                    "--lossless pauses the traced process, so it needs -p or -c; it can't pause all processes");
        }
        if (target.process().orElse(0) == ProcessHandle.current().pid()) {
            throw new UsageException("--lossless can't pause bpf4j itself, because it could not continue itself");
        }
    }

    /**
     * Checks that bpf4j may continue the process after a pause.
     *
     * @throws CommandException if it may not
     */
    void checkPauses() {
        if (lossless && target.process().isPresent()) {
            PausedProcesses.obstacle(target.process().getAsInt()).ifPresent(obstacle -> {
                throw new CommandException("--lossless: " + obstacle);
            });
        }
    }

    /** Tells the user how to continue processes that bpf4j may not continue. */
    static void reportPaused(Console console, Set<Integer> pids) {
        pids.forEach(pid -> console.remark(
                "process " + pid + " is still stopped, and bpf4j may not continue it; run as root: kill -CONT " + pid));
    }

    int bufferBytes() {
        return buffer.bytes();
    }

    /** Whether a process is paused so that no events are lost. */
    boolean lossless() {
        return lossless;
    }

    /** Whether the kernel evaluates expressions. */
    boolean isQuestion() {
        return filter.expression().isPresent() || !show.isEmpty();
    }

    /** The question for the kernel. Without {@code --show}, it shows the arguments that all probes have. */
    Question of(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
        int fewest = probes.stream()
                .flatMap(probe -> probe.sites().stream())
                .mapToInt(site -> site.args().size())
                .min()
                .orElse(0);
        checkPauses();
        Question question = QuestionOptions.about(target, probes, functions)
                .withBuffer(buffer.bytes())
                .withLossless(lossless)
                .show(
                        show.isEmpty()
                                ? IntStream.concat(
                                                IntStream.range(0, fewest),
                                                stringArgs.stream().mapToInt(TextArgument::pointer))
                                        .distinct()
                                        .mapToObj(this::shown)
                                        .toArray(String[]::new)
                                : QuestionOptions.split("--show", show));
        return question.where(filter.expression().orElse(""));
    }

    /** The expression for an argument: as text if {@code --str} names it, else as it is. */
    private String shown(int argument) {
        return stringArgs.stream()
                .filter(string -> string.pointer() == argument)
                .findFirst()
                .map(string -> string.length() == TextArgument.ZERO_TERMINATED
                        ? "str(arg" + argument + ")"
                        : "str(arg" + argument + ", arg" + string.length() + ")")
                .orElse("arg" + argument);
    }

    private List<TextArgument> stringArgs() {
        List<TextArgument> wanted = new ArrayList<>();
        for (String text : strings) {
            try {
                TextArgument string = TextArgument.parse(text);
                if (wanted.stream().anyMatch(other -> other.pointer() == string.pointer())) {
                    throw new UsageException("--str: argument " + string.pointer() + " is given twice");
                }
                wanted.add(string);
            } catch (IllegalArgumentException e) {
                throw new UsageException("--str: " + e.getMessage());
            }
        }
        return wanted;
    }

    TargetOptions target() {
        return target;
    }

    /** The arguments to show as strings. */
    List<TextArgument> strings() {
        return stringArgs;
    }

    /** The maximum number of events to print; empty if there is no bound. */
    OptionalLong count() {
        Long most = count;
        return most == null ? OptionalLong.empty() : OptionalLong.of(most);
    }
}
