package io.bpf4j.loader.link;

import java.util.concurrent.CompletionStage;

/**
 * A link that is being closed, and how far that is. <i>Thread-safe.</i>
 *
 * <p>For perf uprobes the kernel waits about a tenth of a second for each, one after the other, whoever closes them: five
 * hundred sites take a minute. A caller who has something better to do starts that by {@link Link#closeAsync}.
 *
 * <p>The stage completes when all is closed and taken back, with the first failure if something failed; the others are its
 * suppressed exceptions, and nothing is left out for them.
 */
public interface Closing extends CompletionStage<Void> {
    /** Links that there were to close: those of a group, or 1. */
    int total();

    /** Links that are not closed yet. */
    int left();
}
