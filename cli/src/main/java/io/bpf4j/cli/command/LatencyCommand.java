package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.catalog.ProbePair;
import io.bpf4j.trace.catalog.ProbeSignature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Shows how the time between two probes is distributed.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
@Command(
        name = "latency",
        description = {
            "Shows how the time from one probe to another is distributed.",
            "Begin and end are paired by thread, unless --pair or the catalog says otherwise. The end may be "
                    + "left out if the catalog has it, and for a function (u:NAME), whose end is its return. "
                    + "--where, --by "
                    + "and --show are evaluated at the end; begin.NAME is a value of the begin, such as begin.arg0 or "
                    + "str(begin.arg0). Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j latency -p 4711 hotspot:gc__begin hotspot:gc__end",
            "  bpf4j latency -c 'cat f1 f2' u:libc.so.6:open --by 'str(begin.arg0)'",
            "  bpf4j latency -p 4711 postgresql:query__start postgresql:query__done --slower 50ms --show query"
        })
final class LatencyCommand extends NumbersCommand {
    @Option(
            names = "--pair",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR",
            description = "Pair a begin with the end that has the same value of EXPR, in any thread of the process.")
    private String pair = "";

    @Option(
            names = "--slower",
            paramLabel = "T",
            description = "Also print each event that took at least a time: 50ms, 10us, 0.5 (seconds).")
    private @Nullable Double slower;

    @Option(
            names = "--show",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR[,…]",
            description = "With --slower: the values to print for each event.")
    private List<String> show = new ArrayList<>();

    private AskedQuestion asked = AskedQuestion.about(List.of());

    @Mixin
    private final BufferOption buffer = new BufferOption();

    LatencyCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    @Override
    UnaryOperator<Question> completion() throws IOException {
        Optional<Duration> limit = limit();
        if (!show.isEmpty() && limit.isEmpty()) {
            throw new UsageException("--show needs --slower, which selects the events to print");
        }
        if (buffer.isGiven() && limit.isEmpty()) {
            throw new UsageException("--buffer needs --slower: without it latency prints no individual events");
        }
        int bufferBytes = buffer.bytes();
        List<String> ends = ends();
        Optional<String> pairing = pair.isEmpty() ? pairingOf(ends) : Optional.of(pair);
        AskedQuestion fromTo = options.filtered(AskedQuestion.fromTo(ends.getFirst(), ends.getLast()));
        asked = pairing.map(value -> fromTo.with(Part.PAIR, value)).orElse(fromTo);
        return question -> {
            Question latency = question.latency(ends.getFirst(), ends.getLast()).withBuffer(bufferBytes);
            Question paired = pairing.map(latency::pairedBy).orElse(latency);
            Question limited = limit.map(paired::slowerThan).orElse(paired);
            return show.isEmpty() ? limited : limited.show(QuestionOptions.split("--show", show));
        };
    }

    @Override
    AskedQuestion asked() {
        return asked;
    }

    @Override
    boolean needsAllProbes() {
        return true;
    }

    @Override
    List<String> expressions() {
        return pair.isEmpty() ? List.of() : List.of(pair);
    }

    /**
     * The begin and the end. If only the begin is given, the end is the function's return, or the end in the catalog.
     */
    private List<String> ends() throws IOException {
        List<String> names = options.target().names();
        if (names.size() == 1) {
            end(names.getFirst()).ifPresent(options.target()::add);
        }
        List<String> both = options.target().names();
        if (both.size() != 2) {
            throw new UsageException("name two probes, where the time begins and where it ends");
        }
        return both;
    }

    private static Optional<String> end(String begin) throws IOException {
        return begin.startsWith("u:")
                ? Optional.of("ur" + begin.substring(1))
                : pairOf(begin).map(pair -> begin.substring(0, begin.indexOf(':') + 1) + pair.end());
    }

    /** The argument by which the catalog pairs two probes; empty if they are paired by thread. */
    private static Optional<String> pairingOf(List<String> ends) throws IOException {
        return pairOf(ends.getFirst())
                .filter(pair -> ends.getLast().endsWith(":" + pair.end()))
                .flatMap(ProbePair::argument);
    }

    /** The pair in the catalog that a probe begins. */
    private static Optional<ProbePair> pairOf(String probe) throws IOException {
        int colon = probe.indexOf(':');
        String name = probe.substring(colon + 1);
        return UserCatalog.read()
                .find(probe.substring(0, Math.max(0, colon)), name)
                .flatMap(ProbeSignature::pair)
                .filter(pair -> pair.begin().equals(name));
    }

    private Optional<Duration> limit() {
        Double seconds = slower;
        if (seconds == null) {
            return Optional.empty();
        }
        if (seconds > TargetOptions.MAX_SECONDS) {
            throw new UsageException("--slower takes up to " + TargetOptions.MAX_SECONDS + " seconds");
        }
        return Optional.of(Duration.ofNanos(Math.round(seconds * 1e9)));
    }
}
