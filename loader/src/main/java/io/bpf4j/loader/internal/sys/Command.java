package io.bpf4j.loader.internal.sys;

import java.util.List;

/**
 * One thing asked of the kernel, as data: a record for each call, so that a fake kernel can look at what it was asked.
 *
 * <p>Kernel spellings live here and below. <i>Immutable</i>, except that memory segments in a command are written by the
 * call.
 *
 * @param <R> what a successful call gives; {@code Integer} where there is nothing but the call's own result
 */
public sealed interface Command<R>
        permits MapCommand,
                ProgCommand,
                ObjectCommand,
                LinkCommand,
                TokenCommand,
                PerfCommand,
                FileCommand,
                ProcessCommand {
    /** What is asked, for the start of an error message: {@code bpf(BPF_MAP_CREATE) for map "events"}. */
    String call();

    /** The descriptors that must stay open until the call returns. */
    default List<Fd> fds() {
        return List.of();
    }
}
