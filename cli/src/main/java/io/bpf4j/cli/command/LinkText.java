package io.bpf4j.cli.command;

import io.bpf4j.btf.Btf;
import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.LoadedTypes;
import io.bpf4j.loader.Types;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.sys.kernel.AttachType;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** The kind of a link, and what it is attached to, in words. */
final class LinkText {
    private static final Pattern NOTHING = Pattern.compile("0*");
    private static final Pattern CAPITAL = Pattern.compile("(?<=.)([A-Z])");

    private LinkText() {}

    /** The kind, as {@code uprobe_multi}. */
    static String kind(LinkInfo link) {
        return link.detail() instanceof LinkDetail.Unknown
                ? kind(link.typeNumber())
                : CAPITAL.matcher(link.detail().getClass().getSimpleName())
                        .replaceAll("_$1")
                        .toLowerCase(Locale.ROOT);
    }

    /**
     * The kinds by enum bpf_link_type of links that older kernels do not describe; Linux 6.6 and 6.8 added descriptions
     * of these.
     */
    private static String kind(int type) {
        return switch (type) {
            case 7 -> "perf_event";
            case 8 -> "kprobe_multi";
            case 12 -> "uprobe_multi";
            default -> "type " + type;
        };
    }

    /** {@link #target}, or a text if the kernel does not report it. */
    static String shown(LinkInfo link) {
        String target = target(link);
        return target.isEmpty() ? "not reported by this kernel" : target;
    }

    /** What it is attached to: {@code ingress of lo}, {@code tcp_connect}. Empty if the kernel does not report it. */
    static String target(LinkInfo link) {
        return switch (link.detail()) {
            case LinkDetail.RawTracepoint at -> at.name();
            case LinkDetail.Tracing at -> attach(at.attachType()) + function(at.targetObjectId(), at.targetBtfId());
            case LinkDetail.Cgroup at -> attach(at.attachType()) + "control group " + orGone(at.id());
            case LinkDetail.Iter at -> at.target() + (at.mapId() == 0 ? "" : " of map " + at.mapId());
            case LinkDetail.NetNamespace at ->
                attach(at.attachType()) + "network namespace " + orGone(Integer.toUnsignedLong(at.inode()));
            case LinkDetail.Xdp at -> device(at.ifindex());
            case LinkDetail.Tcx at -> attach(at.attachType()) + device(at.ifindex());
            case LinkDetail.Netkit at -> attach(at.attachType()) + device(at.ifindex());
            case LinkDetail.StructOps at -> "map " + at.mapId();
            case LinkDetail.Sockmap at -> attach(at.attachType()) + "map " + at.mapId();
            case LinkDetail.Netfilter at ->
                (at.family() == 2 ? "IPv4" : at.family() == 10 ? "IPv6" : "family " + at.family()) + " hook "
                        + at.hook() + " priority " + at.priority();
            case LinkDetail.TracingMulti at -> attach(at.attachType()) + functions(at.count());
            case LinkDetail.KprobeMulti at -> functions(at.count()) + ((at.flags() & 1) == 0 ? "" : ", their returns");
            case LinkDetail.UprobeMulti at ->
                at.count()
                        + (at.count() == 1 ? " place in " : " places in ")
                        + (at.path().isEmpty() ? "a file" : at.path())
                        + (at.pid().isPresent() ? " of process " + at.pid().getAsInt() : "")
                        + ((at.flags() & 1) == 0 ? "" : ", returns");
            case LinkDetail.Uprobe at ->
                at.file() + "+0x" + Long.toHexString(at.offset()) + (at.returns() ? ", returns" : "");
            case LinkDetail.Kprobe at ->
                (at.function().isEmpty() ? "0x" + Long.toHexString(at.address()) : at.function())
                        + (at.offset() == 0 ? "" : "+" + at.offset())
                        + (at.returns() ? ", returns" : "");
            case LinkDetail.Tracepoint at -> at.name();
            case LinkDetail.PerfEvent at -> "event type " + at.type() + " config " + at.config();
            case LinkDetail.Unknown at -> NOTHING.matcher(at.bytes()).matches() ? "" : at.bytes();
        };
    }

    private static String attach(Optional<AttachType> type) {
        return type.map(known -> LoadedThings.lowerCase(known) + " ").orElse("");
    }

    private static String orGone(long number) {
        return number == 0 ? "that is gone" : Long.toString(number);
    }

    private static String device(int index) {
        if (index == 0) {
            return "a device that is gone";
        }
        try {
            NetworkInterface device = NetworkInterface.getByIndex(index);
            return device == null ? "device " + index : device.getName();
        } catch (SocketException e) {
            return "device " + index; // of another network namespace
        }
    }

    /** A function of the kernel or of another program, by the types that describe it. */
    private static String function(int objectId, int typeId) {
        try {
            // The kernel's types have megabytes, and most links refer to them, so they are read once.
            LoadedTypes info = Types.info(objectId);
            boolean isKernel = info.ofKernel() && info.name().equals("vmlinux");
            Btf types = isKernel ? Types.ofKernel() : Types.byId(objectId);
            if (typeId > 0 && typeId < types.typeCount()) {
                return types.name(typeId);
            }
        } catch (Bpf4jException e) {
            // The object is a program, or gone.
        }
        return "type " + typeId + " of object " + objectId;
    }

    private static String functions(long count) {
        return count + (count == 1 ? " function" : " functions");
    }
}
