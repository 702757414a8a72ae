package io.bpf4j.sys.internal.call;

/**
 * A request to the kernel, as data: a record for each call, so that a fake kernel can inspect the requests. The record
 * also encodes the struct that the kernel expects, and makes the call.
 *
 * <p>Commands use the kernel's names. <i>Immutable</i>, except that the call may write to memory segments in a command.
 *
 * @param <R> the result of a successful call; {@code Integer} if the call returns only a number
 */
public sealed interface Command<R>
        permits MapCommand,
                ProgCommand,
                ObjectCommand,
                LinkCommand,
                TokenCommand,
                PerfCommand,
                FileCommand,
                PeerCommand,
                NetlinkCommand,
                SocketCommand,
                ProcessCommand {
    /** The request, for the start of an error message: {@code bpf(BPF_MAP_CREATE) for map "events"}. */
    String call();

    /** Makes the system calls. Only {@link LinuxKernel} calls this method. */
    R run(Call call);
}
