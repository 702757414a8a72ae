package io.bpf4j.usdt;

import io.bpf4j.loader.link.Detaching;
import io.bpf4j.loader.link.Link;
import java.util.List;

/**
 * A program attached to probes. It belongs to whoever attached; closing it detaches from all sites, then gives the spec
 * IDs back for other attachments. <b>Thread-safe</b>.
 */
public interface UsdtLink extends Link {

    /** What was attached to, in the order given. */
    List<UsdtProbe> probes();

    /** How it was attached. */
    AttachStrategy strategy();

    /** Why in that way: one sentence each, without a full stop. */
    List<String> reasons();

    /** Sites of all probes together. */
    int siteCount();

    /** Entries of the spec map in use: sites with equal arguments and cookie share one. 0 after closing. */
    int specCount();

    /**
     * What is not as it should be, and why, one line each: sites of these probes that are left out, since the kernel would
     * refuse them, or that may never fire ({@link UsdtProbe#problems}); arguments that the program can't read, of which
     * asking for gives an error in the program; and files that the process of {@link Options#pid} had not mapped when they
     * were attached to, whose probes fire only if it maps them later. At most about a hundred for each file, and of
     * arguments.
     */
    List<String> problems();

    /**
     * Detaches without waiting for it: {@link #isClosed} is true at once, sites that are left may still fire, and spec IDs
     * are given back after the last. It is worth it where each site has its own link ({@link AttachStrategy#COOKIE},
     * {@link AttachStrategy#IP_MAP}): the kernel takes about 0.1 s for each. The link must not be the last to need its
     * object: one that is closed meanwhile takes the maps away that the programs of those sites use, which is safe, since
     * the kernel keeps them, but their last events can't be read any more.
     *
     * @return what is left; of the call that began it, if this is not the first. Done, if the link was closed otherwise
     */
    Detaching closeInBackground();
}
