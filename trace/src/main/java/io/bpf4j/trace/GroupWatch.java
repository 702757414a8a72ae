package io.bpf4j.trace;

import io.bpf4j.process.ControlGroups;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.thread.Threads;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Polls which control groups match a pattern, and which files their processes have mapped. <i>Thread-safe.</i>
 *
 * <p>Polling is enough, because the kernel filters events by the group of the thread that fires: a process that has
 * started since the last poll is counted if it runs known files. Groups and files that a poll finds late are a gap. So
 * is a program that started and ended between two polls: the kernel counts the programs that processes of the groups
 * execute, and the watch compares this number with that of the programs it has seen.
 *
 * <p>Tested by {@code GroupsOnKernelTest}.
 */
final class GroupWatch implements AutoCloseable {
    private static final long INTERVAL_NANOS = 200_000_000;

    /** The least pause after a poll, as a multiple of its duration. */
    private static final int REST_FACTOR = 20;

    /** The size of the map of groups.h. A user who may make groups can make more than that. */
    private static final int MAX_GROUPS = 4096;

    private final Host host;
    private final GroupPattern pattern;
    private final ProcessFiles files;
    private final Tasks tasks;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Reasons gaps = new Reasons();
    private volatile Map<Integer, Program> running = Map.of();

    /**
     * Held from the moment when more events may count until it is known why they are late. A caller that has seen such
     * an event and asks for the reasons waits until then.
     */
    private final Object counting = new Object();

    /** Processes that can't be searched, with their start times. Searching them at each poll would delay the others. */
    private final Map<Integer, OptionalLong> leftOut = new HashMap<>();

    private Set<Long> groups = Set.of();
    private long execs;

    /**
     * The programs that the last poll has seen and that are not in {@link #execs}: they were executed during the poll.
     */
    private long seenEarly;

    private @Nullable Thread thread;

    /**
     * The program that a process runs.
     *
     * @param start of the process, in clock ticks since boot
     * @param code the files that it has mapped as code, in the order of their addresses
     */
    private record Program(OptionalLong start, List<MappedFile.Key> code) {
        /** The first file is that of the program, which exec replaces. */
        boolean isSameAs(@Nullable Program other) {
            return other != null
                    && start.equals(other.start)
                    && (code.isEmpty()
                            || other.code.isEmpty()
                            || code.getFirst().equals(other.code.getFirst()));
        }
    }

    /** Receives the results of a poll; the methods are called one at a time. */
    interface Listener {
        /** The ids of all groups, if they have changed. */
        void groups(Set<Long> ids);

        /**
         * A process has files that no process of the groups had.
         *
         * @return whether one of them has probes that were not known
         */
        boolean appeared(int pid, UsdtScan scan);

        /** How many programs processes of the groups have executed. */
        long execs();
    }

    private GroupWatch(Host host, GroupPattern pattern) {
        this.host = host;
        this.pattern = pattern;
        this.files = new ProcessFiles(host);
        this.tasks = new Tasks(host);
    }

    /** A watch that has not started. */
    static GroupWatch of(Host host, GroupPattern pattern) {
        return new GroupWatch(host, pattern);
    }

    /**
     * The files that processes of the groups have mapped now. A file that several processes have mapped is in one scan
     * only.
     *
     * @throws IOException if control groups can't be read
     */
    List<UsdtScan> scan() throws IOException {
        List<UsdtScan> scans = new ArrayList<>();
        look(new Listener() {
            @Override
            public void groups(Set<Long> ids) {}

            @Override
            public boolean appeared(int pid, UsdtScan scan) {
                return scans.add(scan);
            }

            @Override
            public long execs() {
                return 0;
            }
        });
        return scans;
    }

    /**
     * Starts to watch. When this method returns, the listener has received all current groups and files.
     *
     * @throws IOException if control groups can't be read
     */
    void start(Listener listener) throws IOException {
        execs = listener.execs();
        look(listener);
        // Nothing is counted before this method returns. A file that can't be attached to is tried only once.
        gaps.remove(Kind.LATE);
        Thread looking = new Thread(() -> lookAgain(listener), "bpf4j control groups");
        looking.setDaemon(true);
        looking.start();
        thread = looking;
    }

    private void lookAgain(Listener listener) {
        long rest = INTERVAL_NANOS;
        try {
            while (!closing.await(rest, TimeUnit.NANOSECONDS)) {
                long began = System.nanoTime();
                try {
                    look(listener);
                } catch (IOException e) {
                    // The reason may be the limit of open files, for example, so the next poll may succeed.
                    addGap(
                            Kind.NOT_ATTACHED,
                            pattern.toString(),
                            "a search for processes of " + pattern + " failed: " + e.getMessage());
                }
                rest = Math.max(INTERVAL_NANOS, REST_FACTOR * (System.nanoTime() - began));
            }
        } catch (RuntimeException | Error e) {
            addGap(Kind.NOT_ATTACHED, "", "the search for processes of " + pattern + " has ended: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(Listener listener) throws IOException {
        ControlGroups all = ControlGroups.of(host);
        List<ControlGroups.Group> found = withoutTooMany(all.find(pattern, this::addUnreadable));
        Set<Long> ids = found.stream().map(ControlGroups.Group::id).collect(Collectors.toUnmodifiableSet());
        if (!ids.equals(groups)) {
            synchronized (counting) {
                listener.groups(ids);
                found.stream()
                        .filter(group -> !groups.contains(group.id()))
                        .forEach(group -> addGap(
                                Kind.LATE,
                                group.path(),
                                "the control group " + group.path() + " was found after it was made: the first events"
                                        + " in it may be missing"));
            }
            groups = ids;
        }
        long executed = listener.execs();
        Set<Integer> pids = new TreeSet<>();
        for (ControlGroups.Group group : found) {
            pids.addAll(all.processes(group, this::addUnreadable));
        }
        lookAtProcesses(pids, listener, executed);
    }

    private void addUnreadable(String path) {
        addGap(
                Kind.NOT_ATTACHED,
                path,
                "the control group " + path
                        + " and those below it are left out: this process may not read the directory, or its path is too"
                        + " long");
    }

    /** Groups that are known stay: new ones must not take their events. */
    private List<ControlGroups.Group> withoutTooMany(List<ControlGroups.Group> found) {
        if (found.size() <= MAX_GROUPS) {
            return found;
        }
        addGap(
                Kind.NOT_ATTACHED,
                pattern.toString(),
                "there are more than " + MAX_GROUPS + " control groups " + pattern + ": further ones are left out");
        return found.stream()
                .sorted(Comparator.comparing(group -> !groups.contains(group.id())))
                .limit(MAX_GROUPS)
                .toList();
    }

    private void lookAtProcesses(Set<Integer> pids, Listener listener, long executed) {
        leftOut.keySet().retainAll(pids);
        Map<Integer, Program> now = new HashMap<>();
        pids.forEach(pid -> program(pid).ifPresent(program -> now.put(pid, program)));
        Set<MappedFile.Key> known = new HashSet<>();
        // Only those of processes that still run: otherwise the inode number of a file may belong to a new file.
        now.forEach((pid, program) -> {
            Program before = running.get(pid);
            if (before != null && program.isSameAs(before)) {
                known.addAll(before.code());
            }
        });
        long seen = 0;
        for (Map.Entry<Integer, Program> process : now.entrySet()) {
            int pid = process.getKey();
            if (!process.getValue().isSameAs(running.get(pid)) && tasks.hasExecuted(pid)) {
                seen++;
            }
            if (known.addAll(process.getValue().code())) {
                scan(pid, listener);
            }
        }
        long missed = executed - execs - seen - seenEarly;
        if (missed > 0) {
            addGap(
                    Kind.LATE,
                    pattern.toString(),
                    "programs in the control groups of " + pattern + " ended before their files were read: events"
                            + " of unknown files are missing");
        }
        // At most as many as were executed since, because a process that was moved into a group was not executed there.
        seenEarly = Math.min(Math.max(0, -missed), listener.execs() - executed);
        execs = executed;
        running = now;
    }

    private Optional<Program> program(int pid) {
        OptionalLong start = tasks.start(pid);
        if (start.equals(leftOut.get(pid))) {
            return Optional.empty();
        }
        leftOut.remove(pid);
        try {
            return Optional.of(new Program(
                    start,
                    files.executableFiles(pid).stream().map(MappedFile::key).toList()));
        } catch (IOException e) {
            if (tasks.isRunning(pid)) {
                leftOut.put(pid, start);
                addGap(Kind.NOT_ATTACHED, "process " + pid, String.valueOf(e.getMessage()));
            }
            return Optional.empty();
        }
    }

    private void scan(int pid, Listener listener) {
        try {
            UsdtScan scan = UsdtScan.ofProcess(host, pid);
            synchronized (counting) {
                if (listener.appeared(pid, scan)) {
                    addGap(
                            Kind.LATE,
                            "process " + pid,
                            "process " + pid + " had mapped a file before it was found: first events of the file may"
                                    + " be missing");
                }
            }
            scan.files().stream()
                    .filter(file -> file.probes().isEmpty())
                    .flatMap(file -> file.problems().stream())
                    .filter(problem -> problem.kind() == Kind.UNREADABLE && tasks.isRunning(pid))
                    .forEach(problem -> addGap(
                            Kind.NOT_ATTACHED,
                            problem.subject(),
                            "a file that process " + pid + " maps could not be read for probes: " + problem.message()));
        } catch (IOException e) {
            if (tasks.isRunning(pid)) {
                addGap(Kind.NOT_ATTACHED, "process " + pid, String.valueOf(e.getMessage()));
            }
        }
    }

    private void addGap(Kind kind, String subject, String message) {
        gaps.add(new Diagnostic(kind, subject, message));
    }

    /** How many processes of the groups the last poll has found. */
    int processes() {
        return running.size();
    }

    /** Why events may be missing. Waits while probes are being attached to. */
    List<Diagnostic> gaps() {
        synchronized (counting) {
            return gaps.toList();
        }
    }

    /** Ends the watch, and waits for a poll that is in progress. */
    @Override
    public void close() {
        closing.countDown();
        Thread looking = thread;
        if (looking != null && !looking.equals(Thread.currentThread())) {
            Threads.join(looking);
        }
    }
}
