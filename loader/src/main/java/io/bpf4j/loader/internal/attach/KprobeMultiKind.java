package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Many kernel functions by one link; the program was loaded for its attach type.
 *
 * <p>Tested by {@code KernelLinkTest} and {@code KernelFunctionsOnKernelTest}.
 */
record KprobeMultiKind(KprobeMulti target, TraceFs traceFs) implements LinkKind {
    private static final StructLayout INFO =
            StructLayout.of("bpf_link_info.kprobe_multi", "u64 addrs; u32 count, flags; u64 missed, cookies");

    /** The most functions that a message names. */
    private static final int MOST_NAMED = 10;

    /** Kernels before 6.9 ignore the pointer to cookies: their union has the same size without this field. */
    static final LinkView VIEW = LinkView.of(
                    8 /* BPF_LINK_TYPE_KPROBE_MULTI */,
                    info -> new LinkDetail.KprobeMulti(
                            info.u32(INFO, "count"), info.u32(INFO, "flags"), info.u64(INFO, "missed")))
            .withSites(new RawLinkInfo.SiteFields(INFO, List.of("addrs", "cookies"), "count"));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.multiType(target.returns(), "kprobe");
        Set<String> functions = target.isUnique() ? unique(request) : all(request);
        if (functions.isEmpty() && target.addresses().isEmpty()) {
            throw request.refused("this kernel has no function that matches the name and can be traced");
        }
        if (functions.size() != target.functions().size() && !target.cookies().isEmpty()) {
            throw request.refused("a function is named twice");
        }
        LinkCommand.Details details = new LinkCommand.Details.KprobeMulti(
                target.addresses().stream().mapToLong(Long::longValue).toArray(),
                List.copyOf(functions),
                target.cookies().stream().mapToLong(Long::longValue).toArray(),
                target.returns());
        return request.link(request.create(type, details));
    }

    private Set<String> all(AttachRequest request) {
        List<Glob> patterns = target.functions().stream().map(Glob::ofLibbpf).toList();
        boolean wild = patterns.stream().anyMatch(glob -> !glob.isExact());
        if (wild && !target.cookies().isEmpty()) {
            throw request.refused("a pattern can match any number of functions, so it can have a cookie only with"
                    + " KprobeMulti.withUniqueMatch");
        }
        // Names from tracefs exist; the kernel looks up names that the caller gave.
        Set<String> functions = new LinkedHashSet<>(target.functions());
        if (wild) {
            functions.removeIf(f -> !Glob.ofLibbpf(f).isExact());
            functions.addAll(matching(patterns));
        }
        return functions;
    }

    private List<String> matching(List<Glob> patterns) {
        return traceFs.traceableFunctions(f -> patterns.stream().anyMatch(p -> p.matches(f)));
    }

    /** The function that each name or pattern stands for, in their order. */
    private Set<String> unique(AttachRequest request) {
        List<Glob> patterns = target.functions().stream().map(Glob::ofLibbpf).toList();
        List<String> candidates = patterns.isEmpty() ? List.of() : matching(patterns);
        Set<String> functions = new LinkedHashSet<>();
        for (int i = 0; i < patterns.size(); i++) {
            List<String> matches =
                    candidates.stream().filter(patterns.get(i)::matches).toList();
            if (matches.size() != 1) {
                throw request.refused("\"" + target.functions().get(i) + "\" must stand for one function that can be"
                        + " traced, but matches " + (matches.isEmpty() ? "none" : matches.size() + ": ")
                        + String.join(", ", matches.subList(0, Math.min(matches.size(), MOST_NAMED)))
                        + (matches.size() > MOST_NAMED ? ", …" : ""));
            }
            functions.add(matches.getFirst());
        }
        return functions;
    }

    /** Debian's 6.1 has the link type, but not the feature that it needs. */
    @Override
    public String refusal(Errno errno) {
        return errno == Errno.EOPNOTSUPP
                ? "; this kernel is built without CONFIG_FPROBE"
                : PerfKind.refusalOfKprobe(errno);
    }
}
