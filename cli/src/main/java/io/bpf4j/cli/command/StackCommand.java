package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Progress;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.trace.stack.Frame;
import io.bpf4j.trace.stack.StackCounts;
import io.bpf4j.trace.stack.Symbolizer;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Counts the events of probes by the stack of the thread.
 *
 * <p>Tested by {@code CliStackTest}.
 */
@Command(
        name = "stack",
        description = {
            "Counts how often probes fire by stack: who calls the code with the probe.",
            "User stacks, unless --kernel is given alone. The kernel follows frame pointers; a JVM needs "
                    + "-XX:+PreserveFramePointer. Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j stack -p 4711 hotspot:object__alloc",
            "  bpf4j stack -p 4711 postgresql:lwlock__wait__start --svg locks.svg",
            "  bpf4j stack -p 4711 libstdcxx:throw --folded"
        })
final class StackCommand implements Callable<Integer> {
    /** The maximum number of frames of a stack in the table of a page. */
    private static final int MAX_TABLE_FRAMES = 10;

    /** The maximum number of characters of a line below a flame graph. */
    private static final int MAX_LINE_LENGTH = 170;

    private final Console console;
    private final Interruption interruption;

    @Mixin
    private final QuestionOptions options = new QuestionOptions();

    /** The maximum number of frames of a stack that a question keeps, in user space and in the kernel each. */
    private static final int KEPT_FRAMES = 127;

    /** The text in place of the outer frames of a stack that has more than are kept. */
    private static final String CUT = "[cut]";

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
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        options.check();
        if (folded && options.target().json()) {
            throw new UsageException("--folded and --json exclude each other: give one");
        }
        if (!(jvmNames >= 0 && jvmNames <= MAX_PATIENCE_SECONDS)) {
            throw new UsageException("--jvm-names takes 0 to " + MAX_PATIENCE_SECONDS + " seconds");
        }
        user |= !kernel;
        try (Symbolizer symbolizer = Symbolizer.of(Host.running())) {
            TargetRun.of(console, interruption, options.target()).run(new Run(symbolizer));
        }
        return CommandTree.OK;
    }

    /**
     * The work: counts by stack, then names the frames. The names of a stack are not kept but looked up each time: the
     * names of a hostile process's frames could fill the memory.
     */
    private final class Run extends QuestionRun {
        private final Symbolizer symbolizer;
        private final JvmNames jvms;
        private long endingEarly;
        private long cut;
        private List<Answer.Row> last = List.of();
        private boolean ending;

        Run(Symbolizer symbolizer) {
            super(console, options, StackCommand.this::withStacks);
            this.symbolizer = symbolizer;
            this.jvms = new JvmNames(
                    console,
                    symbolizer,
                    Duration.ofMillis(Math.round(jvmNames * 1000)),
                    options.target().verbose());
            if (user) {
                // Then methods that the JVM discards before the end have names, too.
                options.target().process().ifPresent(pid -> jvms.ask(List.of(pid)));
            }
        }

        /** A stack with its names. */
        private record Named(Map<String, Object> key, List<Frame> user, List<Frame> kernel, long count) {
            Named with(Map<String, Object> otherKey, long otherCount) {
                return new Named(otherKey, user, kernel, otherCount);
            }

            /** Whether outer frames are missing, because the stack had more than are kept. */
            boolean isCut() {
                return user.size() >= KEPT_FRAMES || kernel.size() >= KEPT_FRAMES;
            }
        }

        @Override
        public RunningProgram load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
            // Only if all probes are known: the symbolizer would take the address of another probe for one of these.
            if (user && !options.target().filesMayAppear()) {
                Map<Path, List<Long>> places = new HashMap<>();
                probes.forEach(probe -> probe.sites()
                        .forEach(site -> places.computeIfAbsent(probe.binary().path(), _ -> new ArrayList<>())
                                .add(site.fileOffset())));
                functions.forEach(function -> function.fileOffset()
                        .ifPresent(offset -> places.computeIfAbsent(function.file(), _ -> new ArrayList<>())
                                .add(offset)));
                places.forEach(this::addProbes);
            }
            return super.load(probes, functions);
        }

        private void addProbes(Path file, List<Long> offsets) {
            try {
                symbolizer.probesAt(file, offsets);
            } catch (IOException | MalformedDataException e) {
                // Attaching reports the failure, too. If only this fails, the stacks of ended processes lack names.
            }
        }

        /** The process may have ended before its stacks are named. */
        @Override
        public void appeared(int pid) {
            if (user) {
                symbolizer.remember(pid);
            }
        }

        @Override
        void interim(Answer answer) {
            print(answer);
            endInterval(answer);
        }

        @Override
        boolean printsRowsOnly() {
            return folded;
        }

        @Override
        public void finish(List<Diagnostic> gaps) {
            jvms.forget();
            ending = true;
            super.finish(gaps);
        }

        @Override
        void print(Answer answer) {
            List<Answer.Row> rows = answer.rows().stream()
                    .sorted(Comparator.comparingLong(Answer.Row::count).reversed())
                    .toList();
            try (Progress _ = Progress.of(console, "reading symbols")) {
                if (user) {
                    jvms.ask(rows.stream().map(Run::pid).distinct().toList());
                }
                symbolizer.prepare(rows.stream()
                        .filter(row -> row.userStack() != null)
                        .collect(Collectors.groupingBy(
                                Run::pid,
                                Collectors.mapping(
                                        row -> Objects.requireNonNull(row.userStack()), Collectors.toList()))));
                rows.forEach(this::readSymbols);
            }
            symbolizer.problems().forEach(console::remark);
            reportMissingCallers(rows);
            reportCutStacks();
            reportNoKernelStacks(rows);
            if (folded) {
                fold(counts(rows));
            } else if (options.target().json()) {
                rows.forEach(row -> console.line(json(named(row))));
            } else {
                merged(rows).forEach(same -> text(named(same.first()).with(same.key(), same.count())));
            }
            last = rows;
        }

        /** Equal stacks of several processes, represented by the first one. */
        private record SameStacks(Answer.Row first, Map<String, Object> key, long count) {
            /** The process is left out if there are several. */
            SameStacks and(Answer.Row other) {
                Map<String, Object> common = new LinkedHashMap<>(key);
                common.entrySet().retainAll(other.key().entrySet());
                return new SameStacks(first, common, count + other.count());
            }
        }

        /** One row for equal stacks of all processes, unless the user gave the key pid; the most frequent first. */
        private List<SameStacks> merged(List<Answer.Row> rows) {
            Stream<SameStacks> single = rows.stream().map(row -> new SameStacks(row, row.key(), row.count()));
            boolean isOfOne = rows.stream().map(Run::pid).distinct().limit(2).count() < 2;
            if (isOfOne || options.hasKey("pid")) {
                return single.toList();
            }
            Map<String, SameStacks> byDigest = new LinkedHashMap<>();
            single.forEach(row -> byDigest.merge(digest(row.first()), row, (all, one) -> all.and(one.first())));
            return byDigest.values().stream()
                    .sorted(Comparator.comparingLong(SameStacks::count).reversed())
                    .toList();
        }

        /**
         * A digest of the shown text of a stack without its process and count: the names themselves could fill the
         * memory.
         */
        private String digest(Answer.Row row) {
            Named stack = named(row);
            Map<String, Object> key = new LinkedHashMap<>(stack.key());
            key.remove("pid");
            MessageDigest digest = sha256();
            digest.update(key.toString().getBytes(StandardCharsets.UTF_8));
            for (List<Frame> frames : List.of(stack.kernel(), stack.user())) {
                digest.update((byte) '\n');
                frames.forEach(frame -> digest.update((frame.label() + "\n").getBytes(StandardCharsets.UTF_8)));
            }
            return HexFormat.of().formatHex(digest.digest());
        }

        private static MessageDigest sha256() {
            try {
                return MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError("every Java has SHA-256", e);
            }
        }

        @Override
        void html(AnswerPage page, Writer writer) throws IOException {
            AnswerPage stacks = page.withRows(rows());
            if (last.isEmpty()) {
                stacks.html(writer);
            } else {
                stacks.html(writer, out -> counts(last).figure(out, title()));
            }
        }

        /**
         * The stacks as rows of a table, for readers who can't see the graph. Stacks with the same innermost frames are
         * one row.
         */
        private List<Answer.Row> rows() {
            Map<String, Long> stacks = new HashMap<>();
            for (Answer.Row row : last) {
                Named stack = named(row);
                String frames = Stream.concat(stack.kernel().stream(), stack.user().stream())
                        .limit(MAX_TABLE_FRAMES)
                        .map(Frame::label)
                        .collect(Collectors.joining(" \u2190 "));
                stacks.merge(frames.isEmpty() ? "(none)" : frames, stack.count(), Long::sum);
            }
            return stacks.entrySet().stream()
                    .map(entry -> new Answer.Row(Map.of("stack", entry.getKey()), entry.getValue(), null, null, null))
                    .toList();
        }

        @Override
        void svg(AnswerPage page, Writer writer) throws IOException {
            counts(last).svg(writer, title(), page.lines(MAX_LINE_LENGTH));
        }

        private void fold(StackCounts counts) {
            try {
                counts.folded(console.outWriter());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Reads the symbols that a stack needs, and counts the events whose stacks are incomplete. */
        private void readSymbols(Answer.Row row) {
            List<StackTraceMap.Frame> inUser = row.userStack();
            if (inUser != null && !inUser.isEmpty() && symbolizer.endsEarly(pid(row), inUser)) {
                endingEarly += row.count();
            }
            if (named(row).isCut()) {
                cut += row.count();
            }
        }

        /**
         * Warns if many stacks end early. Some are short by nature, but many are a sign of code without frame pointers.
         */
        private void reportMissingCallers(List<Answer.Row> rows) {
            long all = rows.stream().mapToLong(Answer.Row::count).sum();
            if (endingEarly > all / 2) {
                report("the stacks of " + endingEarly + " of " + all
                        + " events end early: this code seems to be built without frame pointers"
                        + " (gcc -fno-omit-frame-pointer, on s390x -mbackchain; java -XX:+PreserveFramePointer)");
            }
            endingEarly = 0;
        }

        private void reportCutStacks() {
            if (cut > 0) {
                report("the stacks of " + cut + " events are cut after the innermost " + KEPT_FRAMES
                        + " frames (the default of the sysctl kernel.perf_event_max_stack); " + CUT
                        + " stands for their callers");
            }
            cut = 0;
        }

        /** At a uprobe the kernel has interrupted code in user space, so its own stack is empty. */
        private void reportNoKernelStacks(List<Answer.Row> rows) {
            if (kernel && !rows.isEmpty() && rows.stream().allMatch(row -> isEmpty(row.kernelStack()))) {
                report("--kernel shows no stacks, because the probes fire in user space; leave --kernel out");
            }
        }

        /** A message about an interim answer is repeated for the final answer, so only the latter is a remark. */
        private void report(String text) {
            if (ending) {
                console.remark(text);
            } else {
                console.error("bpf4j: " + text);
            }
        }

        private static boolean isEmpty(@Nullable List<StackTraceMap.Frame> stack) {
            return stack == null || stack.isEmpty();
        }

        private Named named(Answer.Row row) {
            int pid = pid(row);
            List<StackTraceMap.Frame> inUser = row.userStack();
            List<StackTraceMap.Frame> inKernel = row.kernelStack();
            return new Named(
                    row.key(),
                    inUser == null ? List.of() : symbolizer.user(pid, inUser),
                    inKernel == null ? List.of() : symbolizer.kernel(inKernel),
                    row.count());
        }

        private static int pid(Answer.Row row) {
            return ((Long) row.key().getOrDefault("pid", 0L)).intValue();
        }

        private StackCounts counts(List<Answer.Row> rows) {
            StackCounts counts = StackCounts.create();
            for (Answer.Row row : rows) {
                Named stack = named(row);
                counts.add(stack.isCut() ? CUT : "", stack.user(), stack.kernel(), stack.count());
            }
            return counts;
        }

        private void text(Named stack) {
            String key = stack.key().isEmpty() ? "" : " " + AnswerValues.text(stack.key());
            console.line(options.paint(console).strong(stack.count() + key));
            stack.kernel().forEach(frame -> console.line("    " + Text.printable(frame.label())));
            stack.user().forEach(frame -> console.line("    " + Text.printable(frame.label())));
            if (stack.isCut()) {
                console.line("    " + CUT);
            }
            console.line("");
        }

        private static String json(Named stack) {
            JsonLine line = Records.begin("row").key("key");
            AnswerValues.json(line, stack.key());
            line.key("frames").beginArray();
            List<Frame> all = new ArrayList<>(stack.kernel());
            all.addAll(stack.user());
            all.forEach(frame -> line.value(frame.label()));
            line.endArray().field("count", stack.count());
            return (stack.isCut() ? line.field("cut", true) : line).endObject().toString();
        }

        private String title() {
            return String.join(", ", options.target().names());
        }
    }

    private Question withStacks(Question question) {
        Question asked = user ? question.byUserStack() : question;
        return kernel ? asked.byKernelStack() : asked;
    }
}
