package io.bpf4j.sys.internal.call;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import java.util.Optional;

/**
 * The table of attach types: the properties in which types differ, of the target for which a program is loaded and
 * attached. <i>Immutable.</i>
 *
 * <p>Tested by {@code FeaturesOnKernelTest}, {@code DryRunTest} and {@code AttacherTest}.
 *
 * @param prefix of the names in the kernel's BTF that programs are loaded for
 * @param kind of the BTF types with these names
 * @param example a name without prefix that every kernel with the type has; empty if programs are not loaded for a
 *     name. bpf_fentry_test1 and bpf_modify_return_test exist for tests (net/bpf/test_run.c, since 5.5 and 5.7)
 * @param many the kind of the probes, as in section names ({@code kprobe}), if one link has many of them; else empty
 * @param session whether a program runs on entry and on return of a function
 * @param feature the feature that introduced the type; empty for types that have none
 */
public record AttachTraits(
        String prefix, BtfKind kind, String example, String many, boolean session, Optional<Feature> feature) {
    private static final AttachTraits PLAIN = new AttachTraits("", BtfKind.FUNC, "", "", false, Optional.empty());

    /** {@link #many} for tracing programs. */
    public static final String FUNCTIONS = "function";

    /** The properties of a type. */
    public static AttachTraits of(AttachType type) {
        return switch (type) {
            case TRACE_FENTRY, TRACE_FEXIT -> named("", BtfKind.FUNC, "bpf_fentry_test1");
            case TRACE_FSESSION ->
                named("", BtfKind.FUNC, "bpf_fentry_test1").inSession().since(Feature.TRACING_SESSION);
            case MODIFY_RETURN -> named("", BtfKind.FUNC, "bpf_modify_return_test");
            case TRACE_RAW_TP -> named("btf_trace_", BtfKind.TYPEDEF, "sched_switch");
            case TRACE_ITER -> named("bpf_iter_", BtfKind.FUNC, "bpf_map");
            case LSM_MAC, LSM_CGROUP -> named("bpf_lsm_", BtfKind.FUNC, "file_open");
            case TRACE_FENTRY_MULTI, TRACE_FEXIT_MULTI -> many(FUNCTIONS).since(Feature.TRACING_MULTI_LINK);
            case TRACE_FSESSION_MULTI -> many(FUNCTIONS).inSession().since(Feature.TRACING_MULTI_LINK);
            case TRACE_KPROBE_MULTI -> many("kprobe").since(Feature.KPROBE_MULTI_LINK);
            case TRACE_KPROBE_SESSION -> many("kprobe").inSession().since(Feature.KPROBE_MULTI_LINK);
            case TRACE_UPROBE_MULTI -> many("uprobe").since(Feature.UPROBE_MULTI_LINK);
            case TRACE_UPROBE_SESSION -> many("uprobe").inSession().since(Feature.UPROBE_SESSION);
            case PERF_EVENT -> PLAIN.since(Feature.PERF_LINK);
            default -> PLAIN;
        };
    }

    private static AttachTraits named(String prefix, BtfKind kind, String example) {
        return new AttachTraits(prefix, kind, example, "", false, Optional.empty());
    }

    private static AttachTraits many(String places) {
        return new AttachTraits("", BtfKind.FUNC, "", places, false, Optional.empty());
    }

    private AttachTraits inSession() {
        return new AttachTraits(prefix, kind, example, many, true, feature);
    }

    private AttachTraits since(Feature newFeature) {
        return new AttachTraits(prefix, kind, example, many, session, Optional.of(newFeature));
    }
}
