package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every section name of libbpf with what it means, written down a second time and in another form than the table:
 * {@code name[+] | program type | attach type | flag}, a {@code +} where something may follow after a slash. From the
 * kernel's Documentation/bpf/libbpf/program_types.rst, and from the commits to tools/lib/bpf for what that page lacks.
 */
class SectionNamesTest {
    private static final String NAMES = """
        socket | SOCKET_FILTER |  |
        sk_reuseport | SK_REUSEPORT | SK_REUSEPORT_SELECT |
        sk_reuseport/migrate | SK_REUSEPORT | SK_REUSEPORT_SELECT_OR_MIGRATE |
        kprobe+ | KPROBE |  |
        kretprobe+ | KPROBE |  |
        ksyscall+ | KPROBE |  |
        kretsyscall+ | KPROBE |  |
        uprobe+ | KPROBE |  |
        uprobe.s+ | KPROBE |  | sleepable
        uretprobe+ | KPROBE |  |
        uretprobe.s+ | KPROBE |  | sleepable
        usdt+ | KPROBE |  |
        usdt.s+ | KPROBE |  | sleepable
        kprobe.multi+ | KPROBE | TRACE_KPROBE_MULTI |
        kretprobe.multi+ | KPROBE | TRACE_KPROBE_MULTI |
        kprobe.session+ | KPROBE | TRACE_KPROBE_SESSION |
        uprobe.multi+ | KPROBE | TRACE_UPROBE_MULTI |
        uprobe.multi.s+ | KPROBE | TRACE_UPROBE_MULTI | sleepable
        uretprobe.multi+ | KPROBE | TRACE_UPROBE_MULTI |
        uretprobe.multi.s+ | KPROBE | TRACE_UPROBE_MULTI | sleepable
        uprobe.session+ | KPROBE | TRACE_UPROBE_SESSION |
        uprobe.session.s+ | KPROBE | TRACE_UPROBE_SESSION | sleepable
        tracepoint+ | TRACEPOINT |  |
        tp+ | TRACEPOINT |  |
        raw_tracepoint+ | RAW_TRACEPOINT |  |
        raw_tp+ | RAW_TRACEPOINT |  |
        raw_tracepoint.w+ | RAW_TRACEPOINT_WRITABLE |  |
        raw_tp.w+ | RAW_TRACEPOINT_WRITABLE |  |
        tp_btf+ | TRACING | TRACE_RAW_TP |
        fentry+ | TRACING | TRACE_FENTRY |
        fentry.s+ | TRACING | TRACE_FENTRY | sleepable
        fexit+ | TRACING | TRACE_FEXIT |
        fexit.s+ | TRACING | TRACE_FEXIT | sleepable
        fsession+ | TRACING | TRACE_FSESSION |
        fsession.s+ | TRACING | TRACE_FSESSION | sleepable
        fentry.multi+ | TRACING | TRACE_FENTRY_MULTI |
        fentry.multi.s+ | TRACING | TRACE_FENTRY_MULTI | sleepable
        fexit.multi+ | TRACING | TRACE_FEXIT_MULTI |
        fexit.multi.s+ | TRACING | TRACE_FEXIT_MULTI | sleepable
        fsession.multi+ | TRACING | TRACE_FSESSION_MULTI |
        fsession.multi.s+ | TRACING | TRACE_FSESSION_MULTI | sleepable
        fmod_ret+ | TRACING | MODIFY_RETURN |
        fmod_ret.s+ | TRACING | MODIFY_RETURN | sleepable
        iter+ | TRACING | TRACE_ITER |
        iter.s+ | TRACING | TRACE_ITER | sleepable
        freplace+ | EXT |  |
        lsm+ | LSM | LSM_MAC |
        lsm.s+ | LSM | LSM_MAC | sleepable
        lsm_cgroup+ | LSM | LSM_CGROUP |
        perf_event | PERF_EVENT |  |
        syscall | SYSCALL |  | sleepable
        tc | SCHED_CLS |  |
        classifier | SCHED_CLS |  |
        action | SCHED_ACT |  |
        tc/ingress | SCHED_CLS | TCX_INGRESS |
        tc/egress | SCHED_CLS | TCX_EGRESS |
        tcx/ingress | SCHED_CLS | TCX_INGRESS |
        tcx/egress | SCHED_CLS | TCX_EGRESS |
        netkit/primary | SCHED_CLS | NETKIT_PRIMARY |
        netkit/peer | SCHED_CLS | NETKIT_PEER |
        xdp | XDP | XDP |
        xdp.frags | XDP | XDP | frags
        xdp/devmap | XDP | XDP_DEVMAP |
        xdp.frags/devmap | XDP | XDP_DEVMAP | frags
        xdp/cpumap | XDP | XDP_CPUMAP |
        xdp.frags/cpumap | XDP | XDP_CPUMAP | frags
        lwt_in | LWT_IN |  |
        lwt_out | LWT_OUT |  |
        lwt_xmit | LWT_XMIT |  |
        lwt_seg6local | LWT_SEG6LOCAL |  |
        sockops | SOCK_OPS | CGROUP_SOCK_OPS |
        sk_skb | SK_SKB |  |
        sk_skb/stream_parser | SK_SKB | SK_SKB_STREAM_PARSER |
        sk_skb/stream_verdict | SK_SKB | SK_SKB_STREAM_VERDICT |
        sk_skb/verdict | SK_SKB | SK_SKB_VERDICT |
        sk_msg | SK_MSG | SK_MSG_VERDICT |
        sk_lookup | SK_LOOKUP | SK_LOOKUP |
        netfilter | NETFILTER | NETFILTER |
        flow_dissector | FLOW_DISSECTOR | FLOW_DISSECTOR |
        lirc_mode2 | LIRC_MODE2 | LIRC_MODE2 |
        cgroup_skb/ingress | CGROUP_SKB | CGROUP_INET_INGRESS |
        cgroup_skb/egress | CGROUP_SKB | CGROUP_INET_EGRESS |
        cgroup/skb | CGROUP_SKB |  |
        cgroup/sock | CGROUP_SOCK | CGROUP_INET_SOCK_CREATE |
        cgroup/sock_create | CGROUP_SOCK | CGROUP_INET_SOCK_CREATE |
        cgroup/sock_release | CGROUP_SOCK | CGROUP_INET_SOCK_RELEASE |
        cgroup/post_bind4 | CGROUP_SOCK | CGROUP_INET4_POST_BIND |
        cgroup/post_bind6 | CGROUP_SOCK | CGROUP_INET6_POST_BIND |
        cgroup/bind4 | CGROUP_SOCK_ADDR | CGROUP_INET4_BIND |
        cgroup/bind6 | CGROUP_SOCK_ADDR | CGROUP_INET6_BIND |
        cgroup/connect4 | CGROUP_SOCK_ADDR | CGROUP_INET4_CONNECT |
        cgroup/connect6 | CGROUP_SOCK_ADDR | CGROUP_INET6_CONNECT |
        cgroup/connect_unix | CGROUP_SOCK_ADDR | CGROUP_UNIX_CONNECT |
        cgroup/sendmsg4 | CGROUP_SOCK_ADDR | CGROUP_UDP4_SENDMSG |
        cgroup/sendmsg6 | CGROUP_SOCK_ADDR | CGROUP_UDP6_SENDMSG |
        cgroup/sendmsg_unix | CGROUP_SOCK_ADDR | CGROUP_UNIX_SENDMSG |
        cgroup/recvmsg4 | CGROUP_SOCK_ADDR | CGROUP_UDP4_RECVMSG |
        cgroup/recvmsg6 | CGROUP_SOCK_ADDR | CGROUP_UDP6_RECVMSG |
        cgroup/recvmsg_unix | CGROUP_SOCK_ADDR | CGROUP_UNIX_RECVMSG |
        cgroup/getpeername4 | CGROUP_SOCK_ADDR | CGROUP_INET4_GETPEERNAME |
        cgroup/getpeername6 | CGROUP_SOCK_ADDR | CGROUP_INET6_GETPEERNAME |
        cgroup/getpeername_unix | CGROUP_SOCK_ADDR | CGROUP_UNIX_GETPEERNAME |
        cgroup/getsockname4 | CGROUP_SOCK_ADDR | CGROUP_INET4_GETSOCKNAME |
        cgroup/getsockname6 | CGROUP_SOCK_ADDR | CGROUP_INET6_GETSOCKNAME |
        cgroup/getsockname_unix | CGROUP_SOCK_ADDR | CGROUP_UNIX_GETSOCKNAME |
        cgroup/sysctl | CGROUP_SYSCTL | CGROUP_SYSCTL |
        cgroup/getsockopt | CGROUP_SOCKOPT | CGROUP_GETSOCKOPT |
        cgroup/setsockopt | CGROUP_SOCKOPT | CGROUP_SETSOCKOPT |
        cgroup/dev | CGROUP_DEVICE | CGROUP_DEVICE |
        struct_ops+ | STRUCT_OPS |  |
        struct_ops.s+ | STRUCT_OPS |  | sleepable
        """;

    @Test
    void theTableHasEveryNameAndNoOther() {
        assertThat(SectionKinds.all().stream().map(SectionNamesTest::line))
                .containsExactlyInAnyOrderElementsOf(NAMES.lines().toList());
    }

    @Test
    void eachNameIsFoundAloneAndWithWhatMayFollow() {
        for (SectionKind kind : SectionKinds.all()) {
            assertThat(SectionKind.of(kind.name())).contains(kind);
            assertThat(SectionKind.of(kind.name() + "x")).as(kind.name()).isNotEqualTo(SectionKind.of(kind.name()));
            if (kind.target() == SectionKind.Target.NONE) {
                assertThat(SectionKind.of(kind.name() + "/some").map(SectionKind::name))
                        .as(kind.name())
                        .isEmpty();
            } else {
                assertThat(SectionKind.of(kind.name() + "/a/b:c+1")).contains(kind);
                assertThat(SectionKinds.targetOf(kind, kind.name() + "/a/b:c+1"))
                        .isEqualTo("a/b:c+1");
            }
        }
    }

    private static String line(SectionKind kind) {
        String name = kind.name() + (kind.target() == SectionKind.Target.NONE ? "" : "+");
        String attachType = kind.attachType().map(Enum::name).orElse("");
        String flag = (kind.sleepable() ? "sleepable" : "") + (kind.frags() ? "frags" : "");
        return Stream.of(name, kind.type().name(), attachType, flag)
                .collect(Collectors.joining(" | "))
                .strip();
    }
}
