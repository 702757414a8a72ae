package io.bpf4j.loader.internal.attach;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.internal.types.ProgramBtf;
import io.bpf4j.loader.link.Freplace;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.util.Optional;

/**
 * Targets that programs were loaded for, raw tracepoints, and functions of other programs.
 *
 * <p>The kernel has two commands for them. BPF_RAW_TRACEPOINT_OPEN is the older one, and raw tracepoints still use it;
 * BPF_LINK_CREATE (5.10 for freplace, 5.19 for the others) can carry a cookie and a target.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code KernelFunctionsOnKernelTest}.
 */
final class TracingKind {
    private static final StructLayout CREATE =
            StructLayout.of("bpf_attr.link_create.tracing", "u32 target_btf_id; u64 cookie");
    private static final StructLayout INFO =
            StructLayout.of("bpf_link_info.tracing", "u32 attach_type, target_obj_id, target_btf_id; u64 cookie");
    private static final StructLayout RAW_INFO =
            StructLayout.of("bpf_link_info.raw_tracepoint", "u64 tp_name; u32 tp_name_len; u64 cookie");

    static final LinkView VIEW = LinkView.of(
            2 /* BPF_LINK_TYPE_TRACING */,
            info -> new LinkDetail.Tracing(
                    AttachType.of(info.u32(INFO, "attach_type")),
                    info.u32(INFO, "target_obj_id"),
                    info.u32(INFO, "target_btf_id"),
                    info.u64(INFO, "cookie")));

    static final LinkView RAW_VIEW = LinkView.of(
                    1 /* BPF_LINK_TYPE_RAW_TRACEPOINT */,
                    info -> new LinkDetail.RawTracepoint(info.text(), info.u64(RAW_INFO, "cookie")))
            .withText(_ -> new RawLinkInfo.TextField(RAW_INFO, "tp_name", "tp_name_len"));

    private TracingKind() {}

    static LinkKind of(RawTracepoint target) {
        return request -> open(request, target.name(), target.cookie());
    }

    static LinkKind of(Tracing target) {
        return request -> {
            if (target.cookie() == 0) {
                return open(request, "", 0);
            }
            // The older command would silently drop a cookie for fentry.
            AttachType type = request.requiredType(Optional.empty(), "fentry or tp_btf");
            return type == AttachType.TRACE_RAW_TP
                    ? open(request, "", target.cookie())
                    : request.link(request.create(type, LinkCommand.Details.of(CREATE, 0, target.cookie())));
        };
    }

    private static Link open(AttachRequest request, String name, long cookie) {
        return KernelLink.of(
                request, request.execute(new LinkCommand.OpenRawTracepoint(name, request.program(), cookie)));
    }

    /** A function of another program. */
    record Replacement(Freplace target) implements LinkKind {
        @Override
        public Link attach(AttachRequest request) {
            Fd other = AttachRequest.fd(target.program());
            int function = functionId(request, other, target.function());
            // A program of this type has no attach type, which the kernel writes as 0.
            LinkCommand.Details details = LinkCommand.Details.of(CREATE, function);
            return request.link(
                    new LinkCommand.Create(request.description(), request.program(), other, 0, 0, 0, details));
        }

        @Override
        public String refusal(Errno errno) {
            return errno == Errno.EINVAL ? "; the signature of the function is not that of the program" : "";
        }

        /** The id of a function's type in the BTF that a program was loaded with. */
        private static int functionId(AttachRequest request, Fd program, String function) {
            return ProgramBtf.of(request.kernel(), program)
                    .orElseThrow(() -> request.refused(
                            program.description() + " was loaded without BTF, which describes its functions"))
                    .find(function, BtfKind.FUNC)
                    .orElseThrow(
                            () -> request.refused(program.description() + " has no function \"" + function + "\""));
        }
    }
}
