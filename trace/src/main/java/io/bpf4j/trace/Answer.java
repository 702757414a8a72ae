package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A question that runs in the kernel, and its answer so far. Closing it detaches from all probes and unloads the
 * program; the last {@link #rows} must be read before. <i>Single consumer</i>: {@link #poll} and {@link #drain} on one
 * thread; all other methods on any thread.
 */
public final class Answer extends RunningProgram {
    /** The keys that have the names of groups. */
    private static final Map<String, GroupPattern.Kind> GROUP_KEYS = Map.of(
            "unit", GroupPattern.Kind.UNIT,
            "container", GroupPattern.Kind.CONTAINER,
            "pod", GroupPattern.Kind.POD);

    private final CompiledQuestion question;
    private final ProbeNumbers numbers;
    private final Optional<GroupNames> groups;
    private final AnswerTable table;
    private final EventReader reader;
    private final SignedResults results = new SignedResults();
    private final PairOrder order;
    private final CountingSwitch counting;

    /** Functions that were detached for a while. */
    private final Reasons interrupted = new Reasons();

    /**
     * The files of functions. They stay open, so that their functions can be attached to in further processes when the
     * path no longer leads to them, such as a path through a process that has ended.
     */
    private final Map<FileIdentity, OpenFile> files = new HashMap<>();

    /**
     * The events with one combination of keys. <i>Immutable.</i>
     *
     * @param key the values of the keys by their expressions, in order: {@link Long}, {@link Double}, {@link Boolean},
     *     {@link String}, or {@link java.math.BigInteger} for unsigned numbers above {@link Long#MAX_VALUE}. A text to
     *     which the expression sets no bound ends in {@code ...} if it fills the bytes that were taken of it, usually
     *     64
     * @param count the number of events
     * @param distribution of the values or times; empty if the question only counts
     * @param userStack addresses, the innermost first; empty if not asked for. A list without addresses if the thread
     *     had none, or it was lost: see {@link Gap#STACKS_LOST}
     * @param kernelStack likewise
     */
    public record Row(
            Map<String, Object> key,
            long count,
            Optional<Distribution> distribution,
            Optional<List<StackTraceMap.Frame>> userStack,
            Optional<List<StackTraceMap.Frame>> kernelStack) {
        /**
         * The values of the keys as a record: one component for each key, in order. A key that is a name has the name
         * of its component. Numbers fit {@code long}, {@code int} or {@link java.math.BigInteger}; other values {@code
         * double}, {@code boolean} and {@link String}. Any value fits {@link Object}.
         *
         * @throws IllegalArgumentException if the components are not those of the keys, a value does not fit its type,
         *     or the record's package is not open to {@code io.bpf4j.trace}
         */
        public <R extends Record> R keyAs(Class<R> type) {
            return RecordValues.of(type, key);
        }
    }

    /**
     * An event that is shown. <i>Immutable.</i>
     *
     * @param timeNs nanoseconds of CLOCK_MONOTONIC
     * @param probe {@code provider:name}
     * @param pid the process, as this process's pid namespace numbers it
     * @param tid the thread, likewise
     * @param comm the thread's name, at most 15 bytes
     * @param latencyNs the time since the begin of the pair, in nanoseconds; 0 if the question is not a latency
     * @param values by their expressions, in order, as in {@link Row#key}
     * @param unreadable whether a value could not be read; {@code values} is empty then
     */
    public record Event(
            long timeNs,
            String probe,
            int pid,
            int tid,
            String comm,
            long latencyNs,
            Map<String, Object> values,
            boolean unreadable) {
        /**
         * The values as a record, as {@link Row#keyAs} makes it.
         *
         * @throws IllegalStateException if a value could not be read
         * @throws IllegalArgumentException as {@link Row#keyAs}
         */
        public <R extends Record> R as(Class<R> type) {
            if (unreadable) {
                throw new IllegalStateException("a value of this event could not be read: see unreadable()");
            }
            return RecordValues.of(type, values);
        }
    }

    private Answer(
            BpfObject object,
            CompiledQuestion compiled,
            ProbeNumbers numbers,
            Question question,
            Optional<GroupNames> groups) {
        super(object, "records", question);
        this.question = compiled;
        this.numbers = numbers;
        this.groups = groups;
        this.table = new AnswerTable(object, compiled, numbers, groups);
        this.reader = new EventReader(compiled, numbers, table);
        this.counting = new CountingSwitch(object);
        this.order = new PairOrder(numbers, question.functions);
    }

    static Answer load(Question question) {
        ProbeNumbers numbers = new ProbeNumbers(question);
        CompiledQuestion compiled = CompiledQuestion.of(question, numbers);
        Optional<GroupNames> groups = compiled.namesGroups() ? Optional.of(groupNames()) : Optional.empty();
        BpfObject object = QuestionProgram.load(question, compiled);
        try {
            return new Answer(object, compiled, numbers, question, groups);
        } catch (RuntimeException | Error e) {
            try (object) {
                throw e;
            }
        }
    }

    private static GroupNames groupNames() {
        try {
            return new GroupNames(Host.running());
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "the question needs the names of control groups, which can't be read: " + e.getMessage(), e);
        }
    }

    /**
     * Attaches to more probes: all of them, or none. Probes for which the filter is never true, as {@code probe == "…"}
     * may tell, are left out. If one ends a latency at the address of a function that begins it, and that is attached
     * already, the function is attached again, so that the begin runs first. Nothing is counted meanwhile, which {@link
     * #reasonsForGaps} says.
     *
     * @param pid the process to watch; empty for every process that runs the file
     * @throws io.bpf4j.usdt.UsdtException if the kernel refuses one of them, or the question has no use for any, or the
     *     question was compiled before one was known, and the answer would be wrong: an argument has another type (a
     *     floating-point number in the place of a whole one, or a signed one in the place of an unsigned one), the name
     *     of an argument is known for other probes only, or an expression compares the probe's name
     * @throws IllegalArgumentException if the question is about other probes and does not expect this one ({@link
     *     Question#expecting}), or is lossless, and this process can't continue the process; or if one ends a latency at
     *     the address of a USDT probe that begins it, and that was attached before
     */
    @Override
    public synchronized UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid) {
        beforeAttach(pid);
        List<UsdtProbe> used = taken(probes.stream().filter(numbers::uses).toList());
        used.forEach(probe -> question.check(probe, numbers));
        AttachOptions all =
                AttachOptions.defaults().withCookies(numbers::cookie).withStrict(strict);
        AttachOptions options = pid.isPresent() ? all.withPid(pid.getAsInt()) : all;
        Program program = object.program(QuestionProgram.USDT_PROGRAM);
        UsdtLink link = attachEnds(order.ends(used), pid, () -> usdt.attach(program, order.ordered(used), options));
        UsdtLink added = add(link, program, used, pid);
        order.attached(link, pid, used);
        return added;
    }

    /**
     * Attaches to functions that were given to {@link Question#alsoOn(FunctionProbe...)}: all of them, or none.
     *
     * @param pid the process to watch; empty for every process that runs the files. They may be attached to once for
     *     each of several processes
     * @param leftOut receives the functions that were not attached: a wildcard found them, and the kernel can't probe
     *     their first instruction. It must not wait for another thread that uses this answer
     * @throws io.bpf4j.loader.error.AttachException if a file lacks one of the others, or the kernel refuses it
     * @throws IllegalArgumentException if the question is not about one of the functions, or is lossless, and this
     *     process can't continue the process; or if one ends a latency at the address of a USDT probe that begins it, and
     *     that was attached before
     */
    @Override
    public synchronized Link attachFunctions(
            List<FunctionProbe> functions, OptionalInt pid, Consumer<FunctionProbe> leftOut) {
        beforeAttach(pid);
        numbers.require(functions);
        Set<NamedFiles.Named> named = NamedFiles.ofFunctions(functions);
        List<FunctionProbe> taken = new ArrayList<>(functions);
        Consumer<FunctionProbe> once = function -> {
            if (taken.remove(function)) {
                leftOut.accept(function);
            }
        };
        AttachedFunctions link = attachEnds(
                order.endsOf(functions),
                pid,
                () -> new AttachedFunctions(() -> FunctionLinks.attach(object, functions, numbers, pid, files, once)));
        Link added = add(link, FunctionLinks.program(object, pid), taken, named, pid);
        order.attachedFunctions(link, pid, functions);
        return added;
    }

    /**
     * Attaches ends of a latency. Functions that begin it at the same address, and were attached before, are attached
     * again after it, as {@link PairOrder} says. Nothing is counted meanwhile: an end would be paired with an old begin.
     * The events of other processes go on, if there are some; then this one is held, or {@link Following} says that it
     * was attached to too late.
     */
    private <L extends Link> L attachEnds(List<PairOrder.Site> ends, OptionalInt pid, Supplier<L> attach) {
        List<AttachedFunctions> begins = order.tooEarly(ends, pid);
        if (begins.isEmpty()) {
            return attach.get();
        }
        boolean forAWhile = order.areAllIn(pid);
        boolean missed = forAWhile && counting.isWanted() && !isStopped(pid);
        if (missed) {
            // Before that, because the answer must not look exact when events are no longer counted.
            interrupted.add(new Diagnostic(
                    Diagnostic.Kind.LATE,
                    "",
                    "functions that begin the latency were attached again, to run before a probe at the same"
                            + " address that ends it: events of that time are missing"));
        }
        counting.suspend(forAWhile);
        try {
            begins.forEach(AttachedFunctions::pause);
            if (missed) {
                // Their ends are missed, and the next ends belong to other begins.
                table.forgetBegins();
            }
            return attach.get();
        } finally {
            begins.forEach(this::attachAgain);
            counting.suspend(false);
        }
    }

    /** Whether a process runs nothing while it is attached to: a thread of it is held, and it has no other. */
    private boolean isStopped(OptionalInt pid) {
        return pid.isPresent()
                && isFollowing()
                && new Tasks(Host.running()).threadsOf(pid.getAsInt()).size() == 1;
    }

    /** If that fails, the others are attached all the same, and the answer says what is missing. */
    private void attachAgain(AttachedFunctions begins) {
        try {
            begins.again();
        } catch (RuntimeException e) {
            interrupted.add(new Diagnostic(
                    Diagnostic.Kind.NOT_ATTACHED,
                    begins.description(),
                    "functions that begin the latency are not attached any more: " + e.getMessage()));
        }
    }

    @Override
    boolean functionsLast() {
        return order.functionsLast();
    }

    @Override
    List<Diagnostic> ownGaps() {
        return interrupted.toList();
    }

    /**
     * The probes whose events the filter may accept. All probes if it accepts no event of any, because at least one
     * must be attached.
     */
    private List<UsdtProbe> taken(List<UsdtProbe> probes) {
        List<UsdtProbe> taken = probes.stream()
                .filter(probe -> question.takes(probe.fullName()))
                .toList();
        return taken.isEmpty() ? probes : taken;
    }

    /**
     * Sets whether events are counted and shown; the default is true. The kernel attaches to one probe after the other,
     * and detaches in the same way, so some probes fire a few milliseconds before others do. Switch counting off while
     * you attach: then all probes are counted over the same time, and no begin of a latency is counted before its end
     * is attached. {@link Question#open} does so.
     */
    @Override
    public void setCounting(boolean counting) {
        this.counting.want(counting);
    }

    /** The answer so far: a row for each combination of keys, in no order. */
    public List<Row> rows() {
        return table.rows();
    }

    /**
     * The number of events that the answer lacks so far, by kind. A kind of which there is none is left out, so an
     * empty map means that every event is counted or shown.
     */
    public Map<Gap, Long> gaps() {
        Map<Gap, Long> gaps = new EnumMap<>(Gap.class);
        for (Gap gap : Gap.values()) {
            long count = gap.variable.isEmpty() ? table.openBegins() : counter(gap.variable);
            if (count > 0) {
                gaps.put(gap, count);
            }
        }
        return Collections.unmodifiableMap(gaps);
    }

    @Override
    public boolean isExact() {
        return reasonsForGaps().isEmpty() && gaps().keySet().stream().noneMatch(Gap::isMissing);
    }

    private long counter(String name) {
        return object.global(name).getLong();
    }

    /**
     * Waits for events that are shown and delivers them; returns at once if {@link #wakeup} was called, or this thread
     * is interrupted. Then continues the processes that were paused. If the question shows no events, this method only
     * waits.
     *
     * @param patience how long to wait at most
     * @throws IllegalStateException if this is closed
     */
    public void poll(Duration patience, Consumer<Event> handler) {
        look();
        if (records == null) {
            pause(patience);
            return;
        }
        try {
            records.poll(patience, record -> handler.accept(event(record)));
        } finally {
            paused.resume();
        }
    }

    /**
     * Waits until no event can come any more, and delivers those that are shown as they come: until the processes of
     * the question's {@link Target} have ended, or the process of its scan. Then detaches from all probes, so that
     * {@link #rows} and {@link #gaps} change no more. A question about files alone has no such end. An interrupt of
     * this thread ends the wait, too; the thread stays interrupted.
     */
    public void forEach(Consumer<Event> handler) {
        pollUntilEnd(patience -> poll(patience, handler));
    }

    /** The same as {@link #forEach}, for a question that shows no events. */
    public void await() {
        forEach(_ -> {});
    }

    /** Delivers the available events that are shown, without waiting. Then continues the processes that were paused. */
    public void drain(Consumer<Event> handler) {
        if (records != null) {
            try {
                records.consume(record -> handler.accept(event(record)));
            } finally {
                paused.resume();
            }
        }
    }

    /** Whether the question shows events. */
    public boolean showsEvents() {
        return records != null;
    }

    private Event event(MemorySegment record) {
        delivers();
        if (EventReader.isPaused(record)) {
            paused.add(EventReader.pid(record));
        }
        Event event = reader.event(record);
        results.look(event.values());
        return event;
    }

    /**
     * Whether the process, unit, container or pod that the value of a key names has ended, so that no event can have
     * this value for now: a process (the key {@code pid}), or a systemd unit, container or pod ({@code unit}, {@code
     * container}, {@code pod}) that no longer has a control group. The value may come back: another process gets the
     * pid, or a unit is started again. False for other keys, for a name that is empty or only a number, and if it is
     * unknown, as when control groups can't be read. May read all control groups, at most once in ten seconds.
     *
     * @param key one of {@link #keys}
     * @param value as {@link Row#key} has it
     */
    public boolean hasEnded(String key, Object value) {
        GroupPattern.Kind kind = GROUP_KEYS.get(key);
        if (kind != null) {
            return value instanceof String name
                    && groups.map(names -> names.hasEnded(kind, name)).orElse(false);
        }
        return key.equals("pid")
                && value instanceof Long pid
                && !new Tasks(Host.running()).isRunning(Math.toIntExact(pid));
    }

    @Override
    void discard() {
        drain(_ -> {});
    }

    @Override
    void closeOwn() {
        closeAll(files.values());
    }

    @Override
    boolean hasCounted() {
        return !rows().isEmpty() || !gaps().isEmpty();
    }

    @Override
    public List<Diagnostic> hints() {
        List<Diagnostic> hints = new ArrayList<>(super.hints());
        if (question.hasResults()) {
            for (Row row : rows()) {
                results.look(row.key());
                row.distribution()
                        .filter(_ -> question.distributesResults())
                        .ifPresent(distribution -> results.look(distribution.max()));
            }
        }
        results.hint().ifPresent(hints::add);
        groups.flatMap(GroupNames::hint).ifPresent(hints::add);
        return List.copyOf(hints);
    }

    /**
     * The unit of the distributions: {@code ns} for latencies, {@code bytes} and the like for an argument whose unit
     * the catalog knows; empty if it is unknown.
     */
    public Optional<String> unit() {
        return question.unit();
    }

    /**
     * The keys of the rows by their expressions, in order: those of {@link Question#by}, and {@code pid} if the
     * question has stacks of user space. Empty if there is one row for all events.
     */
    public List<String> keys() {
        return question.key().names();
    }

    /**
     * A distribution without events that has all buckets that a distribution of this answer may have, while those of
     * {@link #rows} lack the empty ones at both ends. All distributions of an answer have the same buckets. Empty if
     * the question does not distribute values or times.
     */
    public Optional<Distribution> emptyDistribution() {
        return question.kind() == QuestionKind.HISTOGRAM || question.kind() == QuestionKind.LATENCY
                ? Optional.of(question.scale().withoutEvents(!question.valueSigned()))
                : Optional.empty();
    }
}
