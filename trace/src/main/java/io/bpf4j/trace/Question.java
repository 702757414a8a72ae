package io.bpf4j.trace;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A question about the events of probes. The kernel computes the answer: a BPF program filters the events, and counts
 * or sums them by key; only results reach this process. Each method returns a changed question; {@link #open}, {@link
 * #load} and {@link #openEvents} ask it, as often as wanted. <i>Immutable.</i>
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(pid);
 * try (Answer classes = Question.on(jvm.matching("hotspot:class__loaded")).where("shared == false").by("name").open();
 *         Answer pauses = Question.on(jvm.matching("hotspot:gc__*")).latency("gc__begin", "gc__end").open()) {
 *     Thread.sleep(10_000);
 *     classes.rows().forEach(row -> System.out.println(row.key() + " " + row.count()));
 *     pauses.rows().forEach(row -> System.out.println(row.distribution()));
 * }
 * }
 *
 * <p>Without {@link #histogram}, {@link #latency} or {@link #show} the events are counted. Filters, keys and values are
 * expressions, as the package {@code io.bpf4j.trace.expression} describes them. They are compiled by {@link #open},
 * which reports errors before it loads anything.
 *
 * <p>Needs CAP_BPF and CAP_PERFMON, and the rights to attach to the probes: see {@link io.bpf4j.usdt.Usdt}.
 */
public final class Question {
    /** The minimum room for argument specs. Sites with the same arguments share one. */
    private static final int FEWEST_SPECS = 256;

    /** Room for the argument specs of files that appear later. */
    private static final int SPECS_OF_LATER_FILES = 4096;

    // Fields that are not final are set by the method that makes the copy, and never after it has returned.
    final List<UsdtProbe> probes;
    final OptionalInt process;
    /** The processes to follow; null if the probes are given. */
    private @Nullable Target target;

    List<FunctionProbe> functions = List.of();
    /** The arguments that a stream of events reads as text; empty for those that the catalog knows as text. */
    List<TextArgument> texts = List.of();

    /** Patterns of probes that may be attached later. */
    List<ProbePattern> expected = List.of();

    QuestionKind kind = QuestionKind.COUNT;
    /**
     * The usual room for keys: 80 KiB for each CPU, and 5 MiB for distributions, which have a number for each bucket.
     */
    static final int MAX_COUNTED_KEYS = 10_240;

    static final int MAX_DISTRIBUTED_KEYS = 2_560;

    /** Expressions; empty if they are not given. */
    String where = "";

    List<String> by = List.of();
    String of = "";
    String pairedBy = "";
    List<String> show = List.of();
    Distribution.Scale scale = Distribution.Scale.POWERS_OF_TWO;
    /** The patterns of a latency's begin and end; empty for other kinds. */
    List<ProbePattern> pair = List.of();

    OptionalLong slowerThan = OptionalLong.empty();
    boolean userStack;
    boolean kernelStack;
    OptionalInt maxKeys = OptionalInt.empty();
    int bufferBytes = 16 << 20;
    boolean lossless;
    Catalog catalog = Catalog.builtIn();
    Features features = Features.ofRunningKernel();
    boolean strict;

    /** Whether the kernel takes the events of some control groups alone. */
    boolean inGroups;

    /** The machine whose kernel runs the question. Only a test sets another one. */
    Host host = Host.running();

    /** Why the question has no probes, if it has none. */
    private final Supplier<String> whyNone;

    private Question(List<UsdtProbe> probes, OptionalInt process, Supplier<String> whyNone) {
        this.probes = List.copyOf(probes);
        this.process = process;
        this.whyNone = whyNone;
    }

    private Question(Question other) {
        this(other.probes, other.process, other.whyNone);
        target = other.target;
        functions = other.functions;
        texts = other.texts;
        expected = other.expected;
        kind = other.kind;
        where = other.where;
        by = other.by;
        of = other.of;
        pairedBy = other.pairedBy;
        show = other.show;
        scale = other.scale;
        pair = other.pair;
        slowerThan = other.slowerThan;
        userStack = other.userStack;
        kernelStack = other.kernelStack;
        maxKeys = other.maxKeys;
        bufferBytes = other.bufferBytes;
        lossless = other.lossless;
        catalog = other.catalog;
        features = other.features;
        strict = other.strict;
        inGroups = other.inGroups;
        host = other.host;
    }

    /**
     * Does work in advance that is common to all questions, so that the first {@link #load} of this process is faster:
     * reads the BPF object, links the system calls, detects the kernel's features. A further call does nothing. May be
     * called at any time and by any thread, for example by a separate thread while the program starts. Without the
     * privileges to load programs, fewer features can be detected.
     *
     * @throws io.bpf4j.sys.BpfException if native access is denied to bpf4j
     */
    public static void prepare() {
        QuestionProgram.prepare();
    }

    /**
     * A question about the probes of a scan: in the process that was scanned, or in all processes that run the scanned
     * files.
     */
    public static Question on(UsdtScan scan) {
        return new Question(scan.probes(), scan.process(), scan::whyNone);
    }

    /** A question about probes, in all processes that run their files. */
    public static Question on(List<UsdtProbe> probes) {
        return new Question(probes, OptionalInt.empty(), () -> "no probes given");
    }

    /**
     * A question about the probes of a target's processes: of the files that they have mapped, and of those that they
     * will map. {@link #open} attaches to them and starts the command. A first event is not missed; {@link
     * Answer#reasonsForGaps} says if one may be.
     *
     * <p>The types of arguments are taken from the probes that the process, or the program of the command, has now. For
     * probes of files that appear later they are taken from the catalog, and are otherwise numbers of 64 bits; a later
     * probe with arguments of another type is not attached to, which {@link Answer#reasonsForGaps} says.
     *
     * {@snippet lang = "java":
     * try (Answer classes = Question.on(Target.command("java", "-version").withChildren(), "hotspot:class__loaded")
     *         .show("name")
     *         .open()) {
     *     classes.forEach(event -> System.out.println(event.pid() + " " + event.values().get("name")));
     * }
     * }
     *
     * @param patterns {@code provider:name}, as {@link ProbePattern#parse} takes them; none if the question is about
     *     functions alone
     * @throws IOException if the process's mappings can't be read, or there is no such command
     */
    public static Question on(Target target, String... patterns) throws IOException {
        List<ProbePattern> wanted = Stream.of(patterns).map(ProbePattern::parse).toList();
        Question question = new Question(FollowedQuestion.known(target, wanted), target.pid(), () -> "no probes given");
        question.target = target;
        return question.within(target).expecting(wanted);
    }

    /**
     * Prepares for a target that {@link Following#start} gets: if it is one of control groups, the kernel takes their
     * events alone. {@link #on(Target, String...)} does so by itself.
     */
    public Question within(Target target) {
        Question copy = new Question(this);
        copy.inGroups = target.inGroups();
        return copy;
    }

    /** Adds the entries or returns of functions to the question, which has only these after {@code on(List.of())}. */
    public Question alsoOn(FunctionProbe... more) {
        Question copy = new Question(this);
        copy.functions = Stream.concat(functions.stream(), Stream.of(more)).toList();
        return copy;
    }

    /**
     * Takes only events for which the expression is not 0. In a latency it is evaluated at the end probe; {@code
     * begin.arg0} is a value at the begin probe.
     */
    public Question where(String expression) {
        Question copy = new Question(this);
        copy.where = expression;
        return copy;
    }

    /**
     * Answers for each combination of values of these expressions. In a latency they are evaluated at the end probe;
     * {@code begin.arg0} is a value at the begin probe, and {@code str(begin.arg0)} the text that was there at the
     * begin.
     */
    public Question by(String... expressions) {
        Question copy = new Question(this);
        copy.by = List.of(expressions);
        return copy;
    }

    /** The distribution of the values of an expression. */
    public Question histogram(String of) {
        Question copy = new Question(this);
        copy.kind = QuestionKind.HISTOGRAM;
        copy.of = of;
        return copy;
    }

    /**
     * The distribution of the time from an event of one probe to the next event of another one in the same thread, in
     * nanoseconds. The probes are among those of the question.
     *
     * @param begin a pattern for the probes at which the time begins: {@code hotspot:gc__begin}, or the name alone
     * @param end a pattern for the probes at which it ends
     */
    public Question latency(String begin, String end) {
        Question copy = new Question(this);
        copy.kind = QuestionKind.LATENCY;
        copy.pair = List.of(ProbePattern.parse(begin), ProbePattern.parse(end));
        return copy;
    }

    /** Pairs the events of a latency that have the same value of an expression in the same process, in any thread. */
    public Question pairedBy(String expression) {
        Question copy = new Question(this);
        copy.pairedBy = expression;
        return copy;
    }

    /**
     * Counts values in buckets of one width, instead of four for each power of two.
     *
     * @param from the smallest value of the first bucket
     * @param to the value after the last bucket; what is out of range is counted in two buckets more
     * @param step the width of a bucket
     * @throws IllegalArgumentException if there is no bucket, more than {@link Distribution#MAX_LINEAR_BUCKETS}, or the
     *     last one does not end below 2^63 - 1
     */
    public Question linear(long from, long to, long step) {
        Question copy = new Question(this);
        copy.scale = Distribution.Scale.linear(from, to, step);
        return copy;
    }

    /**
     * Delivers each event by {@link Answer#poll}, with the values of these expressions, instead of counting. In a
     * latency: in addition, the events at least as slow as {@link #slowerThan}.
     */
    public Question show(String... expressions) {
        Question copy = new Question(this);
        copy.show = List.of(expressions);
        copy.kind = kind == QuestionKind.LATENCY ? kind : QuestionKind.EVENTS;
        return copy;
    }

    /** In a latency: delivers the end events of pairs that took at least this time by {@link Answer#poll}. */
    public Question slowerThan(Duration time) {
        Question copy = new Question(this);
        copy.slowerThan = OptionalLong.of(TimeUnit.NANOSECONDS.convert(time));
        return copy;
    }

    /** Answers for each stack of the thread in user space, in addition to other keys. */
    public Question byUserStack() {
        Question copy = new Question(this);
        copy.userStack = true;
        return copy;
    }

    /** Answers for each stack of the thread in the kernel, in addition to other keys. */
    public Question byKernelStack() {
        Question copy = new Question(this);
        copy.kernelStack = true;
        return copy;
    }

    /**
     * Sets how many combinations of keys can be counted. The default is 10,240 for counts, and 2,560 for distributions.
     * Events of more are counted by {@link Gap#NO_ROOM_FOR_KEY}. The kernel allocates the memory at once: for each key
     * on each CPU 8 bytes, or for distributions about 2,050 bytes. If that is more than a quarter of the machine's
     * memory, {@link #load} refuses it.
     */
    public Question withMaxKeys(int keys) {
        if (keys < 1) {
            throw new IllegalArgumentException("there must be room for at least one key, not " + keys);
        }
        Question copy = new Question(this);
        copy.maxKeys = OptionalInt.of(keys);
        return copy;
    }

    /**
     * Sets the size of the ring buffer, in which the events of {@code show} wait for {@link Answer#poll}; the default
     * is 16 MiB. The kernel allocates the memory at load.
     *
     * @param bytes 1 to 2^30; rounded up to a power of two of whole pages
     * @throws IllegalArgumentException if it is out of range
     */
    public Question withBuffer(int bytes) {
        if (bytes < 1 || bytes > 1 << 30) {
            throw new IllegalArgumentException("the size of a ring buffer is 1 byte to 1 GiB, not " + bytes + " bytes");
        }
        Question copy = new Question(this);
        copy.bufferBytes = bytes;
        return copy;
    }

    /**
     * Sets whether a process is paused by SIGSTOP when half of the ring buffer is full, so that no event of {@code
     * show} is lost; {@link Answer#poll} and {@link Answer#drain} continue it. The default is false. The probes must be
     * attached to processes, not to files, and this process must be allowed to send them SIGCONT. If this process is
     * killed during a pause, a shell continues them, which this process starts for that ({@link
     * io.bpf4j.process.hold.PausedProcesses}). Not for latencies, because a pause is part of the time. Needs Linux 5.8
     * and {@code /bin/sh}.
     */
    public Question withLossless(boolean lossless) {
        Question copy = new Question(this);
        copy.lossless = lossless;
        return copy;
    }

    /** How many argument specs there may be at one time. */
    int specs() {
        int known = probes.stream().mapToInt(probe -> probe.sites().size()).sum();
        return Math.max(FEWEST_SPECS, known + (expected.isEmpty() ? 0 : SPECS_OF_LATER_FILES));
    }

    /** All its expressions. */
    Stream<String> expressions() {
        return Stream.of(List.of(where, of, pairedBy), by, show)
                .flatMap(List::stream)
                .filter(text -> !text.isEmpty());
    }

    /**
     * Expects probes that are attached later by {@link Answer#attach}, though no file has them yet: expressions can use
     * the names of their arguments if the catalog knows them. There is room for 4,096 different lists of arguments at
     * the sites of these probes; sites with the same arguments share it.
     */
    public Question expecting(List<ProbePattern> patterns) {
        Question copy = new Question(this);
        copy.expected = List.copyOf(patterns);
        return copy;
    }

    /** Sets which arguments {@link #openEvents} reads as text, instead of those that are text in the catalog. */
    public Question withTexts(TextArgument... arguments) {
        Question copy = new Question(this);
        copy.texts = List.of(arguments);
        return copy;
    }

    /** Sets where the names of arguments come from. The default is {@link Catalog#builtIn()}. */
    public Question withCatalog(Catalog catalog) {
        Question copy = new Question(this);
        copy.catalog = catalog;
        return copy;
    }

    /** Sets the kernel features to rely on, as {@link io.bpf4j.loader.BpfLoader#features} does. */
    public Question withFeatures(Features features) {
        Question copy = new Question(this);
        copy.features = features;
        return copy;
    }

    /** Asks the kernel of a machine that a test has made, about probes that are given; its features are set apart. */
    Question onHost(Host machine) {
        Question copy = new Question(this);
        copy.host = machine;
        return copy;
    }

    /** Refuses probes with an argument that can't be read, as {@link io.bpf4j.usdt.AttachOptions#withStrict} does. */
    public Question withStrict(boolean strict) {
        Question copy = new Question(this);
        copy.strict = strict;
        return copy;
    }

    /**
     * Compiles the question and loads it, but attaches to nothing, and starts no command: see {@link Answer#attach}.
     *
     * @return the caller's to close
     * @throws io.bpf4j.trace.expression.ExpressionException if an expression is wrong
     * @throws IllegalArgumentException if the parts of the question don't fit together
     * @throws io.bpf4j.sys.BpfException if the kernel refuses it
     */
    public Answer load() {
        return Answer.load(this);
    }

    /**
     * Compiles the question, loads it, and attaches it to its probes: everything, or nothing. If it is about a {@link
     * Target}, this method starts to follow it, and starts the command; then probes may appear later, or never.
     *
     * @return the caller's to close
     * @throws io.bpf4j.trace.expression.ExpressionException if an expression is wrong
     * @throws IllegalArgumentException if the parts of the question don't fit together, or none of its probes begins or
     *     ends the latency
     * @throws UsdtException if it has no probes, with the reason
     * @throws io.bpf4j.sys.BpfException if the kernel refuses it
     */
    public Answer open() {
        requireProbes();
        return attached(load());
    }

    /**
     * Loads the program that {@link #openEvents} uses, but attaches to nothing, and starts no command.
     *
     * @return the caller's to close
     * @throws IllegalArgumentException if the question has a filter, keys, values or functions
     * @throws io.bpf4j.sys.BpfException if the kernel refuses it
     */
    public EventStream loadEvents() {
        if (kind != QuestionKind.COUNT
                || !functions.isEmpty()
                || expressions().findAny().isPresent()
                || userStack
                || kernelStack) {
            throw new IllegalArgumentException(
                    "a stream of events is about USDT probes and has all their arguments: filters, keys, values, stacks"
                            + " and functions are for open() and show()");
        }
        return EventStream.load(this);
    }

    /**
     * Asks for each event with all its arguments, without an expression: attaches to the probes, or starts to follow a
     * target, as {@link #open} does.
     *
     * @return the caller's to close
     * @throws IllegalArgumentException if the question has a filter, keys, values or functions
     * @throws UsdtException if it has no probes, with the reason
     * @throws io.bpf4j.sys.BpfException if the kernel refuses it
     */
    public EventStream openEvents() {
        requireProbes();
        return attached(loadEvents());
    }

    private <P extends RunningProgram> P attached(P program) {
        try {
            Target followed = target;
            if (followed != null) {
                program.follow(FollowedQuestion.start(this, followed, program));
                return program;
            }
            program.setCounting(false);
            if (program.functionsLast()) {
                attachProbes(program);
                attachFunctions(program);
            } else {
                attachFunctions(program);
                attachProbes(program);
            }
            program.setCounting(true);
            return program;
        } catch (RuntimeException | Error e) {
            try (program) {
                throw e;
            }
        }
    }

    private void attachProbes(RunningProgram program) {
        if (!probes.isEmpty()) {
            UsdtLink _ = program.attach(probes, process);
        }
    }

    private void attachFunctions(RunningProgram program) {
        if (!functions.isEmpty()) {
            Link _ = program.attachFunctions(functions, process, _ -> {});
        }
    }

    /** Otherwise the answer would stay empty. */
    private void requireProbes() {
        if (target != null && !expected.isEmpty()) {
            return; // probes may appear later
        }
        if (probes.isEmpty() && functions.isEmpty()) {
            throw new UsdtException("ask a question: " + whyNone.get());
        }
        for (ProbePattern pattern : pair) {
            if (probes.stream().noneMatch(pattern::matches)
                    && functions.stream().noneMatch(f -> FunctionPattern.matches(pattern, f))) {
                throw new IllegalArgumentException("a latency from " + pair.getFirst() + " to " + pair.getLast()
                        + ": the question has no probe " + pattern);
            }
        }
    }
}
