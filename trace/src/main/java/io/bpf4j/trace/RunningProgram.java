package io.bpf4j.trace;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.process.FirstThreads;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.hold.PausedProcesses;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A question that runs in the kernel: an {@link Answer}, whose program counts and computes, or an {@link EventStream},
 * whose program passes on all arguments. This class is their common part: a loaded object, its links, the ring buffer
 * of its events, the processes that it pauses, and the target that it follows. <i>Thread-safe</i>, but for reading
 * events.
 */
public abstract sealed class RunningProgram implements ProbeSession permits Answer, EventStream {
    /**
     * The name of a variable of both programs: how full the ring buffer is, in bytes, when a process is paused; 0 for
     * never.
     */
    private static final String PAUSE_BYTES = "pause_bytes";

    /** The name of a map of both programs ({@code groups.h}): the control groups whose events are taken. */
    private static final String GROUPS = "groups";

    private static final String IN_GROUPS = "in_groups";

    private static final String COUNT_EXEC = "count_exec";

    private static final String GROUP_EXECS = "group_execs";

    /** The time to wait for events before checking whether more can come. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    final BpfObject object;
    final Usdt usdt;
    final boolean strict;
    final PausedProcesses paused = new PausedProcesses();

    /** The ring buffer of events; null if the program has none. */
    final @Nullable RingBuffer records;

    private volatile boolean delivered;

    private final Host host;
    private final WhySilent silence;
    private final PythonEntries pythonEntries;
    private final NamedFiles named = new NamedFiles();
    private final MappedLater mappedLater;
    private final Lookout lookout;
    private final boolean lossless;
    private final boolean inGroups;
    private final OptionalInt process;
    private final List<FunctionProbe> functions;

    /**
     * Watches processes whose probes are attached only once, at the start. {@link Following} watches those that are
     * followed.
     */
    private final Optional<FirstThreads> firstThreads;

    private final List<Link> links = new ArrayList<>();

    private final Attachments attachments = new Attachments();

    /** Ends a wait for events of a program that has none. */
    private final Semaphore woken = new Semaphore(0);

    /** Follows the question's target; null if it has none. */
    private @Nullable FollowedQuestion followed;

    /** Attaches this program to what appears; null if nothing does. Other threads may ask for gaps while it begins. */
    private volatile @Nullable Following following;

    /**
     * The current attachments of a program, and its cost. <i>Immutable.</i>
     *
     * @param probes how many probes and functions it is attached to. Those that have the same name, in several files or
     *     processes, are one
     * @param sites the number of sites in files: a probe may have several, a function has one. A site counts once for
     *     each process that is attached to separately
     * @param processes how many processes of the question's target run, or 1 while the process of its scan does; empty if
     *     the question is about files, since any process that runs them counts
     * @param runTime the time in its BPF programs while {@link io.bpf4j.loader.RunStatistics} were on, since it was loaded
     *     (Linux 5.1). The kernel's path to them, by a breakpoint or a system call in the traced program, is not
     *     included, and takes longer than a short program
     * @param runs the number of runs of its BPF programs, likewise
     */
    public record Usage(int probes, int sites, OptionalInt processes, Duration runTime, long runs) {}

    /** @param records the name of the map with the ring buffer; the object need not have it */
    RunningProgram(BpfObject object, String records, Question question) {
        this.object = object;
        this.usdt = Usdt.of(object);
        this.host = question.host;
        this.silence = new WhySilent(host);
        this.pythonEntries = new PythonEntries(host);
        this.mappedLater = new MappedLater(host);
        this.lookout = new Lookout(() -> {
            named.look();
            mappedLater.look();
        });
        this.strict = question.strict;
        this.lossless = question.lossless;
        this.inGroups = question.inGroups;
        this.process = question.process;
        this.functions = question.functions;
        boolean perfUprobes = AttachStrategy.bestFor(question.features) != AttachStrategy.MULTI;
        this.firstThreads =
                perfUprobes && question.expected.isEmpty() ? Optional.of(new FirstThreads(true)) : Optional.empty();
        this.records = object.findMap(records).map(RingBuffer::open).orElse(null);
        if (question.inGroups) {
            Program execs = object.program(COUNT_EXEC);
            add(execs.attach());
            attachments.add(execs);
        }
        if (lossless) {
            // The other half is for threads that have not noticed it yet.
            object.global(PAUSE_BYTES).setLong(object.map(records).maxEntries() / 2);
        }
    }

    /** Prepares the object for the question's control groups, if it has any. */
    static BpfLoader withGroups(BpfLoader loader, Question question) {
        return loader.global(IN_GROUPS, question.inGroups)
                .map(GROUPS, map -> map.withAutocreate(question.inGroups))
                .program(COUNT_EXEC, program -> program.withAutoload(question.inGroups));
    }

    /** Whether the kernel takes the events of some control groups alone. */
    boolean isInGroups() {
        return inGroups;
    }

    /** Sets the control groups whose events are taken, and those of groups below them, by their ids. */
    void setGroups(Set<Long> ids) {
        TypedMap<Long, Byte> groups = TypedMap.of(object.map(GROUPS), Codec.ofLong(), Codec.ofByte());
        Set<Long> before = groups.toMap().keySet();
        // In this order: the map may have no room for the old and the new ones together.
        before.stream().filter(id -> !ids.contains(id)).forEach(groups::remove);
        ids.stream().filter(id -> !before.contains(id)).forEach(id -> groups.put(id, (byte) 1));
    }

    /** How many programs were executed in these groups. */
    long groupExecs() {
        return object.global(GROUP_EXECS).getLong();
    }

    /** Reads and discards the waiting events, so that the processes that were paused for them are known. */
    abstract void discard();

    /** Sets whether events count; a program that can't tell takes each event. */
    void setCounting(boolean counting) {}

    /** Whether functions are attached after the USDT probes that are attached with them ({@link PairOrder}). */
    boolean functionsLast() {
        return true;
    }

    /** Whether {@link Following} attaches this program, and knows what it was attached to too late. */
    boolean isFollowing() {
        return following != null;
    }

    /** Reasons for gaps that only the subclass knows. */
    List<Diagnostic> ownGaps() {
        return List.of();
    }

    /** Closes what only the subclass has. All probes are detached. */
    void closeOwn() {}

    /** Closes and removes files: all of them, also if one can't be closed. */
    static void closeAll(Collection<OpenFile> files) {
        LinkGroup all = LinkGroup.inSequence("files of a question");
        files.forEach(file -> all.afterClose(file::close));
        files.clear();
        all.close();
    }

    <L extends Link> L add(L link) {
        links.add(link);
        return link;
    }

    /** Remembers to which probes a program was attached, for {@link #hints} and {@link #usage}, and watches their files. */
    UsdtLink add(UsdtLink link, Program program, List<UsdtProbe> probes, OptionalInt pid) {
        add(link);
        silence.attached(probes, pid);
        pythonEntries.attached(probes);
        attachments.add(
                link,
                link.strategy() == AttachStrategy.MULTI
                        ? program.forAttachType(AttachType.TRACE_UPROBE_MULTI)
                        : program.withoutAttachType(),
                probes.stream().map(UsdtProbe::fullName),
                link.siteCount());
        if (following != null) {
            return link; // new files are found, and attached to
        }
        if (pid.isEmpty()) {
            watch(link, NamedFiles.of(probes));
        } else {
            mappedLater.attached(pid.getAsInt(), probes);
            lookout.start();
        }
        return link;
    }

    /**
     * The same for functions. Those of a target are attached to in each file that they were found in at the start, and
     * in no later one.
     *
     * @param files of the functions
     */
    <L extends Link> L add(
            L link, Program program, List<FunctionProbe> ofLink, Set<NamedFiles.Named> files, OptionalInt pid) {
        add(link);
        silence.attached(List.of(), pid);
        attachments.add(link, program, ofLink.stream().map(FunctionProbe::fullName), ofLink.size());
        if (following != null) {
            watch(this, files);
        } else if (pid.isEmpty()) {
            watch(link, files);
        }
        return link;
    }

    /**
     * The current attachments of this program, and its cost. Does not wait for an attachment in progress.
     *
     * @throws IllegalStateException if this is closed
     */
    public Usage usage() {
        return attachments.usage(processes());
    }

    private OptionalInt processes() {
        Following begun = following;
        if (begun != null) {
            return OptionalInt.of(begun.processes());
        }
        return process.isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of(new Tasks(host).isRunning(process.getAsInt()) ? 1 : 0);
    }

    private void watch(Object owner, Set<NamedFiles.Named> files) {
        if (!files.isEmpty()) {
            named.watch(owner, files);
            lookout.start();
        }
    }

    /** Notes that later changes of this link's files don't matter. */
    private void forget(Link link) {
        attachments.remove(link);
        links.remove(link);
        if (named.has(link)) {
            Optional<String> _ = lookout.now();
            named.forget(link);
        }
    }

    /** Notes that a target is followed from now on, with this program as its session. */
    void follows(Target target) {
        silence.follows(target);
    }

    /** Notes that an event is delivered. */
    void delivers() {
        if (!delivered) { // a volatile write costs more than a read, and there may be millions of events a second
            delivered = true;
        }
    }

    /** Whether the program has counted an event, or an event that is missing. */
    abstract boolean hasCounted();

    private boolean isSilent() {
        return !delivered && (records == null || records.pendingBytes() == 0) && !hasCounted();
    }

    /**
     * Prepares for an attachment in a process, or in all processes.
     *
     * @throws IllegalArgumentException if the question is lossless, and the process may not be paused and continued
     */
    void beforeAttach(OptionalInt pid) {
        firstThreads.ifPresent(threads -> pid.ifPresent(threads::add));
        if (!lossless) {
            return;
        }
        if (pid.isEmpty()) {
            throw new IllegalArgumentException(
                    "a lossless question pauses the traced process, so it is about processes that are named, not"
                            + " files");
        }
        PausedProcesses.obstacle(pid.getAsInt()).ifPresent(obstacle -> {
            throw new IllegalArgumentException("a lossless question: " + obstacle);
        });
        paused.mayStop(pid.getAsInt());
    }

    @Override
    public synchronized void detach(Link link) {
        forget(link);
        Closing _ = link.closeAsync();
    }

    @Override
    public synchronized void close(Link link) {
        forget(link);
        link.close();
    }

    @Override
    public synchronized List<Closing> detach() {
        lookout.end();
        List<Closing> all = links.stream().map(Link::closeAsync).toList();
        attachments.clear();
        links.clear();
        return all;
    }

    @Override
    public void wakeup() {
        if (records != null) {
            records.wakeup();
        } else if (woken.availablePermits() == 0) {
            woken.release();
        }
    }

    /** Checks whether probes can still fire in the processes that are attached to. Called repeatedly. */
    void look() {
        firstThreads.ifPresent(FirstThreads::look);
    }

    /** Waits as {@link RingBuffer#poll} does, for a program without events. */
    void pause(Duration patience) {
        try {
            boolean _ = woken.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Polls until no event can come any more, or this thread is interrupted; then detaches and polls the rest. */
    void pollUntilEnd(Consumer<Duration> poll) {
        while (isAlive() && !Thread.currentThread().isInterrupted()) {
            poll.accept(PATIENCE);
        }
        if (followed != null) {
            followed.stop();
        }
        boolean interrupted = false;
        for (Closing closing : detach()) {
            while (!closing.toCompletableFuture().isDone()) {
                interrupted |= Thread.interrupted(); // or the poll would not wait
                poll.accept(PATIENCE);
            }
        }
        poll.accept(Duration.ZERO);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Whether events can still come: a process of the question's {@link Target} runs, or the process of its scan.
     * Always true for a question about files.
     */
    public boolean isAlive() {
        return followed != null
                ? followed.isAlive()
                : process.isEmpty() || new Tasks(host).isRunning(process.getAsInt());
    }

    /**
     * The reasons why events may be missing that no counter counts. Code that was attached to too late is {@link
     * Diagnostic.Kind#LATE}. Probes that could not be attached to are {@link Diagnostic.Kind#NOT_ATTACHED}, and so are
     * patterns without a probe so far, whose subject is the pattern, and processes whose first thread has ended: the
     * kernel removes their perf uprobes. So are files that the question is attached to in all processes, or functions of
     * which it counts, and that were replaced or written since, or whose file system does not answer within five
     * seconds; the subject is the path. The paths are looked at about once a second, by this method, and when the
     * question is detached. Functions whose calls can't be counted exactly are {@link
     * Diagnostic.Kind#INEXACT}, and so is {@code python:function__entry} of CPython 3.11, which fires for all calls only if
     * the question has {@code python:line} of the same file, too. Empty if there is none.
     */
    public List<Diagnostic> reasonsForGaps() {
        // First: a pattern that is matched now may be late, and that reason is known a moment after.
        List<Diagnostic> ofPatterns = followed == null ? List.of() : followed.gaps();
        Following begun = following;
        List<Diagnostic> gaps = new ArrayList<>(
                begun != null
                        ? begun.gaps()
                        : firstThreads.map(FirstThreads::gaps).orElse(List.of()));
        gaps.addAll(ofPatterns);
        gaps.addAll(ownGaps());
        gaps.addAll(named.gaps(lookout.now()));
        functions.forEach(function -> function.whyInexact().ifPresent(gaps::add));
        gaps.addAll(pythonEntries.gaps());
        return gaps.stream().distinct().toList();
    }

    /**
     * The paths of files that this is attached to in all processes, and that were replaced: they lead to another file
     * now, to which nothing is attached. The result is that of the last check, about a second ago; this method does not
     * wait. Empty for a file that was written in its place. After an attachment to the probes of the new file ({@link
     * #attach}) both are counted, and no count decreases: processes that still run the old file are still counted.
     * {@link #reasonsForGaps} says then between which times events are missing.
     */
    public Set<Path> replacedFiles() {
        return named.replaced();
    }

    /**
     * Hints about the answer so far that are not failures. Empty if there are none.
     *
     * <ul>
     *   <li>{@link Diagnostic.Kind#MAY_NOT_FIRE}: probes of a JVM fire only with a flag, which is the subject, and the
     *       process was started without it. If the question is about no single process, or its flags are not known, this
     *       is in the list only while no event has come. They are read at the first call, while the process runs.
     *   <li>{@link Diagnostic.Kind#LEFT_OUT}: no event has come, and the process, which is the subject, has children, or
     *       has ended and may have had some, whose events are not taken: {@link Target#withChildren} takes them. Or the process was seen to map a file,
     *       which is the subject, after it was attached to, and the file has one of the probes: a question about a {@link
     *       Target#process} attaches to such files.
     *   <li>{@link Diagnostic.Kind#HINT}: a value can be read in a better way. Values of {@code retval} are negative
     *       numbers of an {@code int}, which {@code (int)retval} shows. Or names of units, containers and pods may be
     *       missing, because the machine uses control groups of version 1, too.
     *   <li>{@link Diagnostic.Kind#UNNAMED}: a control group has no name, so its number is in the place of the name of a
     *       unit, container or pod.
     * </ul>
     *
     * <p>To be called before {@link #close}.
     */
    public List<Diagnostic> hints() {
        Optional<String> _ = lookout.now();
        List<Diagnostic> hints = new ArrayList<>(silence.reasons(this::isSilent));
        hints.addAll(mappedLater.hints());
        return List.copyOf(hints);
    }

    /**
     * Whether no event is missing so far: no counter counts one, and {@link #reasonsForGaps} is empty. Events that have
     * not been read yet are not missing.
     */
    public abstract boolean isExact();

    /** Hands over what follows the question's target; closing this closes it. */
    void follow(FollowedQuestion question) {
        followed = question;
    }

    /** Notes what attaches this program, and so knows what it was attached to too late. */
    void attachedBy(Following begun) {
        following = begun;
    }

    void stopPausing() {
        if (lossless) {
            object.global(PAUSE_BYTES).setLong(0);
        }
    }

    @Override
    public void resumePaused() {
        if (lossless && records != null) {
            try {
                stopPausing();
            } finally {
                // If no record waits, none of a pause is unread: a stopped process was stopped by another program.
                if (records.pendingBytes() > 0) {
                    paused.resumeAll();
                } else {
                    paused.resume();
                }
                paused.close();
            }
        }
    }

    /** The processes that are still stopped, because this process may not send them SIGCONT. */
    public Set<Integer> stillPaused() {
        return Set.copyOf(paused.stuck());
    }

    /** Stops to follow the question's target, detaches from all probes, unloads the program, and ends a command. */
    @Override
    public void close() {
        // Not under the lock, for which the thread that follows may wait.
        try (FollowedQuestion question = followed) {
            if (question != null) {
                question.stop();
            }
            unload();
        }
    }

    private synchronized void unload() {
        try (object;
                RingBuffer _ = records;
                paused;
                lookout) {
            LinkGroup all = LinkGroup.inParallel("the question's probes");
            links.forEach(all::add);
            attachments.clear();
            links.clear();
            if (lossless) {
                all.afterClose(this::discard);
            }
            all.afterClose(this::closeOwn);
            try (all) { // detaches also if the processes can't be continued
                if (lossless) {
                    // First, because detaching may take minutes.
                    stopPausing();
                    discard();
                }
            }
        }
    }
}
