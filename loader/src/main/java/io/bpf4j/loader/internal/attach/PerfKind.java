package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.Ksyscall;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RawLinkInfo.TextField;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.internal.linux.Kallsyms;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Single uprobes and kprobes, tracepoints and other perf events; {@link PerfAttacher} attaches them.
 *
 * <p>Tested by {@code KernelLinkTest} and {@code LinkKindsTest}.
 */
record PerfKind(Function<AttachRequest, Link> attacher, Function<Errno, String> refusals) implements LinkKind {
    private static final StructLayout UPROBE = StructLayout.of(
            "bpf_link_info.perf_event",
            "u32 type; u64 uprobe.file_name; u32 uprobe.name_len, uprobe.offset;"
                    + " u64 uprobe.cookie, uprobe.ref_ctr_offset");
    private static final StructLayout KPROBE = StructLayout.of(
            "bpf_link_info.perf_event",
            "u32 type; u64 kprobe.func_name; u32 kprobe.name_len, kprobe.offset;"
                    + " u64 kprobe.addr, kprobe.missed, kprobe.cookie");
    private static final StructLayout TRACEPOINT = StructLayout.of(
            "bpf_link_info.perf_event",
            "u32 type; u64 tracepoint.tp_name; u32 tracepoint.name_len; u64 tracepoint.cookie");
    private static final StructLayout EVENT =
            StructLayout.of("bpf_link_info.perf_event", "u32 type; u64 event.config; u32 event.type; u64 event.cookie");

    static final LinkView VIEW =
            LinkView.of(7 /* BPF_LINK_TYPE_PERF_EVENT */, PerfKind::detail).withText(PerfKind::text);

    /** By {@code enum bpf_perf_event_type}; 0 on kernels before 6.6, which don't report it. */
    private static LinkDetail detail(RawLinkInfo info) {
        int type = info.u32(EVENT, "type");
        return switch (type) {
            case 1, 2 ->
                new LinkDetail.Uprobe(
                        info.text(),
                        Integer.toUnsignedLong(info.u32(UPROBE, "uprobe.offset")),
                        info.u64(UPROBE, "uprobe.ref_ctr_offset"),
                        type == 2,
                        info.u64(UPROBE, "uprobe.cookie"));
            case 3, 4 ->
                new LinkDetail.Kprobe(
                        info.text(),
                        info.u32(KPROBE, "kprobe.offset"),
                        info.u64(KPROBE, "kprobe.addr"),
                        info.u64(KPROBE, "kprobe.missed"),
                        type == 4,
                        info.u64(KPROBE, "kprobe.cookie"));
            case 5 -> new LinkDetail.Tracepoint(info.text(), info.u64(TRACEPOINT, "tracepoint.cookie"));
            case 6 ->
                new LinkDetail.PerfEvent(
                        info.u32(EVENT, "event.type"),
                        info.u64(EVENT, "event.config"),
                        info.u64(EVENT, "event.cookie"));
            default -> LinkKinds.unknown(info);
        };
    }

    private static @Nullable TextField text(RawLinkInfo info) {
        return switch (info.u32(EVENT, "type")) {
            case 1, 2 -> new TextField(UPROBE, "uprobe.file_name", "uprobe.name_len");
            case 3, 4 -> new TextField(KPROBE, "kprobe.func_name", "kprobe.name_len");
            case 5 -> new TextField(TRACEPOINT, "tracepoint.tp_name", "tracepoint.name_len");
            default -> null;
        };
    }

    static LinkKind of(Uprobe target, FunctionSites functions) {
        return new PerfKind(
                request -> {
                    if (target.function().isEmpty()) {
                        return PerfAttacher.uprobe(request, target.file(), target.offset(), target);
                    }
                    FunctionSites.Sites site = functions.each(
                            request.description(),
                            target.file().path(),
                            List.of(target.function().get()));
                    try (OpenFile file = site.open(request)) {
                        Link link = PerfAttacher.uprobe(request, file, site.offsets()[0] + target.offset(), target);
                        return UndoStack.closing(link, link::close, file::close);
                    }
                },
                UprobeMultiKind::refusalOfUprobe);
    }

    static LinkKind of(Kprobe target) {
        return new PerfKind(
                request -> {
                    int colon = target.function().indexOf(':');
                    long address = colon < 0
                            ? target.address()
                            : ofModule(
                                    request,
                                    target.function().substring(0, colon),
                                    target.function().substring(colon + 1));
                    return PerfAttacher.kprobe(
                            request,
                            address == 0 ? target.function() : null,
                            address + target.offset(),
                            target.returns(),
                            target.cookie());
                },
                errno -> refusalOfKprobe(errno)
                        + (errno == Errno.ENOENT && target.function().indexOf(':') >= 0
                                ? "; Linux 6.6 to 6.10 take no name of a module: there the address is looked up in"
                                        + " /proc/kallsyms, which needs CAP_SYSLOG, and kernel.kptr_restrict below 2"
                                : ""));
    }

    /**
     * Kernels differ in whether they take a name with a module: those of 6.6 to 6.10 look for a symbol with a colon. Where
     * addresses are hidden, 0: the kernel is to look for the name.
     */
    private static long ofModule(AttachRequest request, String module, String function) {
        List<Long> found;
        try {
            found = Kallsyms.of(request.host()).functions(module, function);
        } catch (IOException e) {
            throw request.refused("its address can't be looked up: " + e.getMessage());
        }
        if (found.size() != 1) {
            throw request.refused(
                    (found.isEmpty() ? "no function" : found.size() + " functions") + " of that name in module \""
                            + module + "\""
                            + (found.isEmpty()
                                    ? ", or the module is not loaded"
                                    : ": take the address of one from /proc/kallsyms, for Kprobe.entry(address)"));
        }
        return found.getFirst();
    }

    static LinkKind of(Ksyscall target) {
        return new PerfKind(
                request -> PerfAttacher.kprobe(
                        request, systemCall(request, target.name()), 0, target.returns(), target.cookie()),
                PerfKind::refusalOfKprobe);
    }

    static LinkKind of(PerfEvent target) {
        return new PerfKind(request -> PerfAttacher.event(request, target), errno -> refusalOfEvent(target, errno));
    }

    /** ENOTTY comes from the ioctl that replaces a link before 5.15. */
    static LinkKind of(OpenPerfEvent target) {
        return new PerfKind(request -> PerfAttacher.openEvent(request, target), errno -> switch (errno) {
            case EBADF, EINVAL, ENOTTY -> "; the descriptor is not a perf event";
            default -> "";
        });
    }

    @Override
    public Link attach(AttachRequest request) {
        return attacher.apply(request);
    }

    @Override
    public String refusal(Errno errno) {
        return refusals.apply(errno);
    }

    /**
     * What the kernel's perf_event_open and the sources of events return (kernel/events/core.c, kernel/events/
     * hw_breakpoint.c, arch/x86/events/core.c).
     */
    private static String refusalOfEvent(PerfEvent target, Errno errno) {
        boolean isBreakpoint = target.breakpoint().isPresent();
        return switch (errno) {
            case ENOENT ->
                isBreakpoint
                        ? "; this machine has no breakpoints for memory"
                        : "; this machine has no such event: virtual machines often have no hardware events (no PMU), and"
                                + " processors lack some; \"perf list\" shows the available ones, and"
                                + " /sys/bus/event_source/devices the types";
            case EOPNOTSUPP -> "; this event can't interrupt, so it can be counted but not sampled";
            case ENOSPC -> isBreakpoint ? "; all breakpoints of the processor are in use" : "";
            case EINVAL ->
                isBreakpoint
                        ? "; the processor may have no such breakpoint: the length must be 1, 2, 4 or 8 (arm64: 1 to 8), the"
                                + " address a multiple of it, and x86-64 has none for reads alone"
                        : "";
            default -> "";
        };
    }

    static String refusalOfKprobe(Errno errno) {
        return switch (errno) {
            case ENOENT, ESRCH -> "; this kernel has no function that matches the name and can be traced";
            case EADDRNOTAVAIL ->
                "; several functions of this kernel have that name: take the address of one from /proc/kallsyms, for"
                        + " Kprobe.entry(address), or name its module, if it is in one: \"nf_tables:nft_do_chain\"";
            case EINVAL, EOPNOTSUPP, EILSEQ -> "; the function can't be probed, or not at this offset";
            default -> "";
        };
    }

    /**
     * The function that implements a system call. If calls go through a wrapper with pt_regs (4.17), its name contains
     * the architecture (SYSCALL_DEFINE in arch/*&#47;include/asm/syscall_wrapper.h); powerpc and loongarch have none.
     */
    private static String systemCall(AttachRequest request, String name) {
        String architecture = System.getProperty("os.arch", "");
        if (request.features().lacks(Feature.SYSCALL_WRAPPER)) {
            return "__se_sys_" + name;
        }
        return switch (architecture) {
            case "amd64", "x86_64" -> "__x64_sys_" + name;
            case "aarch64" -> "__arm64_sys_" + name;
            case "s390x" -> "__s390x_sys_" + name;
            case "riscv64" -> "__riscv_sys_" + name;
            default ->
                throw request.refused(
                        "the names of the functions that implement system calls are unknown on architecture "
                                + architecture);
        };
    }
}
