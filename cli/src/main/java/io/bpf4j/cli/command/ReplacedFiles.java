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
 * Attaches a run to the files that replace its own, as in an upgrade of a program or a library. The old files stay
 * attached, because processes may run them for a long time, so no counts are lost. <i>Confined.</i>
 *
 * <p>A file may belong to another user, who replaces it as often as they like. So there is a pause between two attempts,
 * which grows while files are replaced again and again, and the number of attachments that are kept is limited: an
 * attachment keeps the space of a deleted file.
 *
 * <p>Tested by {@code ReplacedFilesTest}.
 */
final class ReplacedFiles {
    /** The least time between two attempts. Each attempt that follows soon doubles it. */
    static final Duration PAUSE = Duration.ofSeconds(5);

    static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

    /** The maximum number of attachments to new files that are kept, besides those of the start. */
    static final int MOST_KEPT = 4;

    /**
     * The maximum number of attachments to new files, including failed ones: some of their memory is freed only when
     * the run ends.
     */
    static final int MOST = 256;

    private final Supplier<Set<Path>> replaced;
    private final Attacher attacher;
    private final LongSupplier nanoTime;

    /** The links of each attachment that is kept, the oldest first. */
    private final Deque<List<Link>> kept = new ArrayDeque<>();

    /** The number of attachments, including failed ones. */
    private int made;

    private boolean released;
    private Optional<String> problem = Optional.empty();

    /** What is not counted in new files; it stays set, because these files stay attached. */
    private Optional<String> uncounted = Optional.empty();

    private boolean tried;
    private long last;
    private Duration pause = PAUSE;

    /**
     * The result of an attachment.
     *
     * @param links to the new files; empty if there was nothing to attach to
     * @param missing why one of them is not attached to; empty if all are
     * @param uncounted what the new files have that is not attached to; empty if there is nothing
     */
    record Attached(List<Link> links, Optional<String> missing, Optional<String> uncounted) {}

    /** Attaches to files, and detaches from them. */
    interface Attacher {
        /**
         * Attaches to the files that these paths lead to now: to all of their probes, or to none.
         *
         * @throws IOException if one of the files can't be read; nothing was attached then
         * @throws RuntimeException if the kernel refuses; what was attached is detached again
         */
        Attached attach(Set<Path> replaced) throws IOException;

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
                    + " times: the last ones are not attached to until the agent is restarted");
            return;
        }
        pause = !tried || now - last >= 2 * LONGEST_PAUSE.toNanos() ? PAUSE : shorter(pause.multipliedBy(2));
        tried = true;
        last = now;
        try {
            Attached attached = attacher.attach(paths);
            problem = attached.missing();
            uncounted = uncounted.or(attached::uncounted);
            if (!attached.links().isEmpty()) {
                made++;
                kept.addLast(attached.links());
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
        problem = Optional.of("the file that replaced "
                + paths.iterator().next()
                + (paths.size() == 1 ? "" : " (and of " + (paths.size() - 1) + " more)") + " is not attached to: "
                + why);
    }

    private static Duration shorter(Duration pause) {
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    /** Why events of new or old files may be missing, besides those between the replacement and the attachment. */
    List<String> reasons() {
        List<String> reasons = new ArrayList<>();
        problem.ifPresent(reasons::add);
        uncounted.ifPresent(reasons::add);
        if (released) {
            reasons.add("files were replaced more than " + MOST_KEPT
                    + " times: processes that run neither the first file nor one of the last " + MOST_KEPT
                    + " are no longer counted");
        }
        return reasons;
    }
}
