package io.bpf4j.usdt;

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
     * asking for gives an error in the program; and {@link #notMapped}. At most about a hundred for each file, and of
     * arguments.
     */
    List<String> problems();

    /**
     * A line for each file that the process of {@link AttachOptions#pid} had not mapped when it was attached to: its probes fire
     * only if the process maps it later.
     */
    List<String> notMapped();
}
