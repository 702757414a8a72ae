package io.bpf4j.loader.internal.attach;

import io.bpf4j.btf.Btf;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.TracingMulti;
import io.bpf4j.sys.internal.call.AttachTraits;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Attaches a tracing program to many functions by one link (Linux 7.2). The kernel expects their ids in the BTF that
 * the program was loaded for, and accepts all of them or none.
 *
 * @param types the types of a module, or of the kernel if the name is empty
 */
record TracingMultiKind(TracingMulti target, Function<String, Optional<Btf>> types, TraceFs traceFs)
        implements LinkKind {
    /** Since 7.3 (commit 859055e07697); zeroes before. */
    private static final StructLayout INFO =
            StructLayout.of("bpf_link_info.tracing_multi", "u32 attach_type, count, obj_id");

    static final LinkView VIEW = LinkView.of(
            15 /* BPF_LINK_TYPE_TRACING_MULTI */,
            info -> new LinkDetail.TracingMulti(
                    AttachType.of(info.u32(INFO, "attach_type")), info.u32(INFO, "count"), info.u32(INFO, "obj_id")));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.manyType(AttachTraits.FUNCTIONS)
                .orElseThrow(() -> request.refused("the program was loaded for one function, which can't change after"
                        + " the load; use SEC(\"fentry.multi\") for many"));
        String module = oneModule(request, target.functions());
        List<Glob> patterns = target.functions().stream()
                .map(name -> Glob.ofLibbpf(name.substring(name.indexOf(':') + 1)))
                .toList();
        boolean wild = patterns.stream().anyMatch(glob -> !glob.isExact());
        if (wild && !target.cookies().isEmpty()) {
            throw request.refused("a pattern can match any number of functions, so it can't have a cookie for each");
        }
        Btf btf = types.apply(module)
                .orElseThrow(() -> request.refused(
                        module.isEmpty()
                                ? "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
                                : "module \"" + module + "\" is not loaded or has no BTF"));
        Map<String, List<Integer>> known =
                TraceableFunctions.of(btf, name -> patterns.stream().anyMatch(p -> p.matches(name)));
        List<Integer> ids = wild ? matching(patterns, known, traceFs) : named(request, patterns, known);
        if (ids.isEmpty()) {
            throw request.refused("this kernel has no function that matches the name and can be traced");
        }
        LinkCommand.Details details = new LinkCommand.Details.TracingMulti(
                ids.stream().mapToInt(Integer::intValue).toArray(),
                target.cookies().stream().mapToLong(Long::longValue).toArray());
        return request.link(request.create(type, details));
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EINVAL, ENOENT, EBUSY -> "; one of the functions can't be traced; the kernel does not report which";
            case EOPNOTSUPP ->
                "; this kernel's function tracer does not support it (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)";
            default -> "";
        };
    }

    /** The text before the colon, the same for all names: a link has functions of one BTF object. */
    private static String oneModule(AttachRequest request, List<String> functions) {
        Set<String> modules = new HashSet<>();
        for (String name : functions) {
            int colon = name.indexOf(':');
            String module = colon < 0 ? "" : name.substring(0, colon);
            modules.add(module.equals("vmlinux") ? "" : module);
        }
        if (modules.size() != 1) {
            throw request.refused(
                    modules.isEmpty() ? "no function is named" : "the functions do not all belong to one module");
        }
        return modules.iterator().next();
    }

    /** One id for each name, in the same order, so that the cookies match. */
    private static List<Integer> named(AttachRequest request, List<Glob> names, Map<String, List<Integer>> known) {
        Set<Integer> ids = new LinkedHashSet<>();
        for (Glob name : names) {
            List<Integer> found = known.get(name.text());
            if (found == null) {
                throw request.refused(
                        "this kernel's BTF has no function \"" + name.text() + "\", or none that can be traced");
            }
            if (!ids.add(found.getFirst())) {
                throw request.refused("function \"" + name.text() + "\" is named twice");
            }
        }
        return List.copyOf(ids);
    }

    private static List<Integer> matching(List<Glob> patterns, Map<String, List<Integer>> known, TraceFs traceFs) {
        Predicate<String> test = traceable(known.keySet(), traceFs);
        List<Integer> ids = new ArrayList<>();
        known.forEach((name, all) -> {
            boolean named = patterns.stream().anyMatch(p -> p.text().equals(name));
            // If several functions share a name, the tracer's list does not tell which is traceable.
            if (named || (all.size() == 1 && test.test(name))) {
                ids.add(all.getFirst());
            }
        });
        return ids;
    }

    /** The functions in tracefs; if tracefs is not accessible, the kernel decides for all of them at once. */
    private static Predicate<String> traceable(Set<String> candidates, TraceFs traceFs) {
        try {
            return new HashSet<>(traceFs.traceableFunctions(candidates::contains))::contains;
        } catch (AttachException e) {
            return _ -> true;
        }
    }
}
