package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Progress;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.picture.StackPicture;
import io.bpf4j.cli.question.StackRow;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.NamedStacks;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Counts the events of probes by the stack of the thread.
 *
 * <p>Tested by {@code CliStackTest}.
 */
@Command(
        name = "stack",
        description = {
            "Counts how often probes fire, by call stack.",
            "User stacks, unless --kernel is given alone. The kernel follows frame pointers; a JVM needs "
                    + "-XX:+PreserveFramePointer. Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j stack -p 4711 hotspot:object__alloc",
            "  bpf4j stack -p 4711 postgresql:lwlock__wait__start --svg locks.svg",
            "  bpf4j stack -p 4711 libstdcxx:throw --folded"
        })
final class StackCommand extends QuestionCommand {
    private static final int MAX_PATIENCE_SECONDS = 3600;

    @Option(names = "--user", description = "Stacks in user space (the default).")
    private boolean user;

    @Option(names = "--kernel", description = "Stacks in the kernel.")
    private boolean kernel;

    @Option(names = "--folded", description = "Print a line for each stack, as flame graph tools read it.")
    private boolean folded;

    @Option(
            names = "--jvm-names",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description =
                    "How long to wait for a JVM that is asked for the names of its compiled methods, by its attach "
                            + "mechanism; 0 asks none. Default: ${DEFAULT-VALUE}.")
    private double jvmNames = 1;

    StackCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    @Override
    void ask() throws IOException {
        if (folded && options.target().json()) {
            throw new UsageException("--folded and --json exclude each other: give one");
        }
        if (!(jvmNames >= 0 && jvmNames <= MAX_PATIENCE_SECONDS)) {
            throw new UsageException("--jvm-names takes 0 to " + MAX_PATIENCE_SECONDS + " seconds");
        }
        user |= !kernel;
        try (NamedStacks stacks = NamedStacks.create(Duration.ofMillis(Math.round(jvmNames * 1000)))) {
            run(new Run(stacks));
        }
    }

    /** The work: counts by stack, and shows the stacks with their names. */
    private final class Run extends QuestionRun {
        private final NamedStacks stacks;
        private boolean ending;

        /** The events of the rows that were printed last. */
        private long events;

        Run(NamedStacks stacks) {
            super(console, options, options.asked().with(Part.STACKS, kinds()), StackCommand.this::withStacks);
            this.stacks = stacks;
            if (user) {
                // Then methods that the JVM discards before the end have names, too.
                options.target().process().ifPresent(pid -> stacks.ask(List.of(pid), this::asking));
            }
        }

        private void asking(int pid) {
            if (options.target().verbose()) {
                console.error("bpf4j: asking the JVM " + pid + " for its compiled methods, by its attach mechanism");
            }
        }

        @Override
        public Answer load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
            if (user && !options.target().filesMayAppear()) {
                stacks.probes(probes, functions);
            }
            return super.load(probes, functions);
        }

        @Override
        public void attachedTo(List<UsdtProbe> probes) {
            if (user) {
                stacks.attached(probes);
            }
        }

        /** The process may have ended before its stacks are named. */
        @Override
        public void appeared(int pid) {
            if (user) {
                stacks.remember(pid);
            }
        }

        @Override
        void interim(Answer answer) {
            print(answer);
            endInterval(events);
        }

        @Override
        boolean printsRowsOnly() {
            return folded;
        }

        @Override
        public void finish(List<Diagnostic> gaps) {
            stacks.forget();
            ending = true;
            super.finish(gaps);
        }

        @Override
        void print(Answer answer) {
            List<Answer.Row> rows = answer.rows();
            try (Progress _ = Progress.of(console, "reading symbols")) {
                stacks.read(rows, this::asking);
            }
            stacks.problems().forEach(console::remark);
            stacks.gaps().forEach(this::report);
            // At a uprobe the kernel has interrupted code in user space, so its own stack is empty.
            if (kernel
                    && !rows.isEmpty()
                    && rows.stream()
                            .allMatch(row -> row.kernelStack().orElse(List.of()).isEmpty())) {
                report(new Diagnostic(
                        Diagnostic.Kind.HINT,
                        "",
                        "--kernel shows no stacks, because the probes fire in user space; leave --kernel out"));
            }
            if (folded) {
                fold(stacks.counts());
            } else if (options.target().json()) {
                stacks.forEach(stack -> console.line(named(stack).json()));
            } else if (options.hasKey("pid")) {
                stacks.forEach(this::text);
            } else {
                stacks.forEachOfAll(this::text);
            }
            events = rows.stream().mapToLong(Answer.Row::count).sum();
        }

        @Override
        void html(AnswerPage page, Writer writer) throws IOException {
            picture().html(page, writer);
        }

        @Override
        void svg(AnswerPage page, Writer writer) throws IOException {
            picture().svg(page, writer);
        }

        private StackPicture picture() {
            StackPicture picture =
                    new StackPicture(String.join(", ", options.target().names()), stacks.counts());
            stacks.forEach(stack -> picture.add(labels(stack), stack.count()));
            return picture;
        }

        private void fold(StackCounts counts) {
            try {
                counts.folded(console.outWriter());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A message about an interim answer is repeated for the final answer, so only the latter is a remark. */
        private void report(Diagnostic diagnostic) {
            if (ending) {
                console.remark(diagnostic);
            } else {
                console.error("bpf4j: " + diagnostic.message());
            }
        }

        private void text(NamedStacks.Stack stack) {
            named(stack).print(console, options.paint(console));
        }

        private static StackRow named(NamedStacks.Stack stack) {
            return new StackRow(stack.key(), labels(stack), stack.isCut(), stack.count());
        }

        private static List<String> labels(NamedStacks.Stack stack) {
            return stack.frames().stream().map(Frame::label).toList();
        }
    }

    private String[] kinds() {
        return Stream.of(user ? "user" : "", kernel ? "kernel" : "")
                .filter(kind -> !kind.isEmpty())
                .toArray(String[]::new);
    }

    private Question withStacks(Question question) {
        Question asked = user ? question.byUserStack() : question;
        return kernel ? asked.byKernelStack() : asked;
    }
}
