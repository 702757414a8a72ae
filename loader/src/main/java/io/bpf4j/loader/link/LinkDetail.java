package io.bpf4j.loader.link;

import io.bpf4j.sys.kernel.AttachType;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The part of the kernel's information about a link that depends on its type. A field that the kernel does not report
 * is 0 or empty. <i>Immutable.</i>
 *
 * <p>Kernel constants whose range may grow are plain numbers. An attach type that this library doesn't know is empty.
 */
public sealed interface LinkDetail {
    record RawTracepoint(String name, long cookie) implements LinkDetail {}

    /**
     * fentry and similar types, tp_btf, LSM, freplace.
     *
     * @param targetObjectId id of the program that is replaced or traced, or of the kernel's BTF
     * @param targetBtfId id of the function's type in that BTF
     */
    record Tracing(Optional<AttachType> attachType, int targetObjectId, int targetBtfId, long cookie)
            implements LinkDetail {}

    /**
     * A control group.
     *
     * @param id its inode number; 0 if the group is gone or the link is detached
     */
    record Cgroup(long id, Optional<AttachType> attachType) implements LinkDetail {}

    /**
     * An iterator.
     *
     * @param target its kind: {@code task}, {@code bpf_map_elem}
     * @param mapId of the map whose elements it visits; 0 for other kinds
     */
    record Iter(String target, int mapId) implements LinkDetail {}

    /**
     * A network namespace.
     *
     * @param inode its number, as {@code /proc/PID/ns/net} shows it; 0 if the namespace is gone or the link is detached
     */
    record NetNamespace(int inode, Optional<AttachType> attachType) implements LinkDetail {}

    /**
     * A network device.
     *
     * @param ifindex 0 if the device is gone or the link is detached
     */
    record Xdp(int ifindex) implements LinkDetail {}

    /**
     * A network device.
     *
     * @param ifindex 0 if the device is gone or the link is detached
     */
    record Tcx(int ifindex, Optional<AttachType> attachType) implements LinkDetail {}

    /**
     * A netkit device.
     *
     * @param ifindex 0 if the device is gone or the link is detached
     */
    record Netkit(int ifindex, Optional<AttachType> attachType) implements LinkDetail {}

    record StructOps(int mapId) implements LinkDetail {}

    /** A map of sockets. */
    record Sockmap(int mapId, Optional<AttachType> attachType) implements LinkDetail {}

    /** Numbers as in {@link Netfilter}. */
    record Netfilter(int family, int hook, int priority, int flags) implements LinkDetail {}

    /**
     * Many functions of the kernel or of a module, with one tracing program. The kernel reports these fields from Linux
     * 7.3 on.
     *
     * @param count number of functions
     * @param objectId of the BTF that describes them
     */
    record TracingMulti(Optional<AttachType> attachType, int count, int objectId) implements LinkDetail {}

    /**
     * Many functions of the kernel.
     *
     * @param count how many
     * @param flags {@code BPF_F_KPROBE_MULTI_*}: 1 for returns
     * @param missed how often the program could not run
     */
    record KprobeMulti(int count, int flags, long missed) implements LinkDetail {}

    /**
     * Many sites in a file.
     *
     * @param path of the file, as the kernel sees it; empty if the path can't be resolved
     * @param count how many
     * @param flags {@code BPF_F_UPROBE_MULTI_*}: 1 for returns, 2 if the file was given by its file descriptor
     * @param pid the process; empty for all, and if it has ended or is not in the pid namespace of the reader
     */
    record UprobeMulti(String path, int count, int flags, OptionalInt pid) implements LinkDetail {}

    /**
     * A uprobe through a perf event.
     *
     * @param file as it was given to the kernel; may be {@code /proc/self/fd/N} of the process that attached
     * @param offset in the file, in bytes
     */
    record Uprobe(String file, long offset, long refCounterOffset, boolean returns, long cookie)
            implements LinkDetail {}

    /** A kprobe through a perf event; {@code address} is 0 if the kernel hides addresses. */
    record Kprobe(String function, int offset, long address, long missed, boolean returns, long cookie)
            implements LinkDetail {}

    /** A tracepoint through a perf event. */
    record Tracepoint(String name, long cookie) implements LinkDetail {}

    /** Another perf event, by the numbers of perf_event_open(2). */
    record PerfEvent(int type, long config, long cookie) implements LinkDetail {}

    /**
     * A type that this library doesn't know.
     *
     * @param bytes the kernel's answer in hexadecimal: the union after {@code prog_id}
     */
    record Unknown(String bytes) implements LinkDetail {}
}
