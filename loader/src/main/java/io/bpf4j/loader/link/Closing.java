package io.bpf4j.loader.link;

import java.util.concurrent.CompletionStage;

/**
 * The progress of closing a link. <i>Thread-safe.</i>
 *
 * <p>The kernel takes about a tenth of a second to detach each perf uprobe, one after the other, even if several
 * threads close them: five hundred sites take a minute. A caller that does not want to wait uses {@link
 * Link#closeAsync}.
 *
 * <p>The stage completes when all links are closed and all clean-up steps are done. If a step failed, it completes with
 * the first failure; further failures are suppressed exceptions. A failure does not skip the remaining steps.
 */
public interface Closing extends CompletionStage<Void> {
    /** The number of links to close: all links of a group, or 1. */
    int total();

    /** The number of links that are not closed yet. */
    int left();
}
