package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.loader.link.Link;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Has a run attach to the files that take the place of its own, as an upgrade of a program or a library does. The files
 * before stay attached, because processes may run them for long; so nothing that was counted is lost. <i>Confined.</i>
 *
 * <p>A file may belong to another user, who replaces it as often as they like. So there is a pause between two attempts,
 * which grows while files are replaced again and again, and the number of attachments that are kept is limited: an
 * attachment keeps the space of a deleted file.
 *
 * <p>Tested by {@code ReplacedFilesTest}.
 */
final class ReplacedFiles {
    /** Between two attempts, at least. Each attempt that follows soon doubles it. */
    static final Duration PAUSE = Duration.ofSeconds(5);

    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    /** Attachments to new files that are kept, beside those of the start. */
    static final int MOST_KEPT = 4;

    /** Attachments to new files in all, with those that failed: some of what they take is freed only when the run ends. */
    static final int MOST = 256;

    private final Supplier<Set<Path>> replaced;
    private final Attacher attacher;
    private final LongSupplier nanoTime;

    /** The links of each attachment that is kept, the oldest first. */
    private final Deque<List<Link>> kept = new ArrayDeque<>();

    /** Attachments, with those that failed. */
    private int made;

    private boolean released;
    private Optional<String> problem = Optional.empty();

    /** What new files have that is not counted; it stays, because these files stay attached. */
    private Optional<String> uncounted = Optional.empty();

    private boolean tried;
    private long last;
    private Duration pause = PAUSE;

    /**
     * What became of an attempt.
     *
     * @param links to the new files; empty if there was nothing to attach to
     * @param missing why one of them is not attached to; empty if all are
     * @param uncounted what the new files have that is not attached to; empty if there is nothing
     */
    record Attempt(List<Link> links, Optional<String> missing, Optional<String> uncounted) {}

    /** Attaches to files, and detaches from them. */
    interface Attacher {
        /**
         * Attaches to the files that these paths lead to now: to all of their probes, or to none.
         *
         * @throws IOException if one of the files can't be read; nothing was attached then
         * @throws RuntimeException if the kernel refuses; what was attached is detached again
         */
        Attempt attach(Set<Path> replaced) throws IOException;

        /** Ends one of the links that {@link #attach} returned. */
        void detach(Link link);
    }

    /** @param replaced the paths that lead to a file which nothing is attached to */
    ReplacedFiles(Supplier<Set<Path>> replaced, Attacher attacher, LongSupplier nanoTime) {
        this.replaced = replaced;
        this.attacher = attacher;
        this.nanoTime = nanoTime;
    }

    /** Attaches if a file was replaced, unless the last attempt was a short time ago. */
    void look() {
        Set<Path> paths = replaced.get();
        long now = nanoTime.getAsLong();
        if (paths.isEmpty() || (tried && now - last < pause.toNanos())) {
            return;
        }
        if (made == MOST) {
            problem = Optional.of("files were replaced more than " + MOST
                    + " times: those that came last are not attached to, until the agent is started again");
            return;
        }
        pause = !tried || now - last >= 2 * LONGEST_PAUSE.toNanos() ? PAUSE : shorter(pause.multipliedBy(2));
        tried = true;
        last = now;
        try {
            Attempt attempt = attacher.attach(paths);
            problem = attempt.missing();
            uncounted = uncounted.or(attempt::uncounted);
            if (!attempt.links().isEmpty()) {
                made++;
                kept.addLast(attempt.links());
            }
            if (kept.size() > MOST_KEPT) {
                released = true;
                kept.removeFirst().forEach(attacher::detach);
            }
        } catch (IOException e) {
            failed(paths, ErrorText.of(e));
        } catch (RuntimeException e) {
            // A part may have been attached and detached again, so it counts.
            made++;
            failed(paths, e instanceof IllegalArgumentException ? String.valueOf(e.getMessage()) : ErrorText.of(e));
        }
    }

    private void failed(Set<Path> paths, String why) {
        problem = Optional.of("the file that has taken the place of "
                + paths.iterator().next()
                + (paths.size() == 1 ? "" : " (and of " + (paths.size() - 1) + " more)") + " is not attached to: "
                + why);
    }

    private static Duration shorter(Duration pause) {
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    /** Why events of new files, or of former ones, may be missing beside those of the time in between. */
    List<String> reasons() {
        List<String> reasons = new ArrayList<>();
        problem.ifPresent(reasons::add);
        uncounted.ifPresent(reasons::add);
        if (released) {
            reasons.add("files were replaced more than " + MOST_KEPT
                    + " times: processes that still run a file of the time between the first and the last "
                    + MOST_KEPT + " are not counted any more");
        }
        return reasons;
    }
}
