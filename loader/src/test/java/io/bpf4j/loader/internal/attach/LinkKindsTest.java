package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RecordedCall;
import io.bpf4j.sys.kernel.AttachType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the kernel says about each kind of link: the bytes are those that attr-golden.c wrote. */
class LinkKindsTest {
    @BeforeEach
    void littleEndian() {
        assertThat(ByteOrder.nativeOrder()).as("of attr-golden.txt").isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }

    private static RawLinkInfo golden(String kind, String text) {
        byte[] info = HexFormat.of()
                .parseHex(Objects.requireNonNull(RecordedCall.golden().get("link_info_" + kind)));
        ByteBuffer bytes = ByteBuffer.wrap(info).order(ByteOrder.LITTLE_ENDIAN);
        byte[] detail = new byte[48];
        bytes.get(16, detail);
        return new RawLinkInfo(bytes.getInt(0), bytes.getInt(4), bytes.getInt(8), detail, text);
    }

    private static LinkDetail detail(String kind, String text) {
        return LinkKinds.detail(golden(kind, text));
    }

    private static LinkDetail detail(String kind) {
        return detail(kind, "");
    }

    @Test
    void tracing() {
        assertThat(detail("raw_tp", "sys_enter")).isEqualTo(new LinkDetail.RawTracepoint("sys_enter", 7));
        assertThat(detail("tracing")).isEqualTo(new LinkDetail.Tracing(Optional.of(AttachType.TRACE_FENTRY), 1, 9, 7));
        assertThat(detail("kprobe_multi")).isEqualTo(new LinkDetail.KprobeMulti(5, 1, 2));
        assertThat(detail("uprobe_multi", "/bin/x"))
                .isEqualTo(new LinkDetail.UprobeMulti("/bin/x", 5, 1, OptionalInt.of(77)));
        assertThat(detail("iter", "bpf_map_elem")).isEqualTo(new LinkDetail.Iter("bpf_map_elem", 6));
        assertThat(detail("struct_ops")).isEqualTo(new LinkDetail.StructOps(6));
    }

    @Test
    void perfEvents() {
        assertThat(detail("perf_uprobe", "/bin/x")).isEqualTo(new LinkDetail.Uprobe("/bin/x", 0x1f40, 0x30, true, 7));
        assertThat(detail("perf_kprobe", "vfs_read")).isEqualTo(new LinkDetail.Kprobe("vfs_read", 4, -16, 2, false, 7));
        assertThat(detail("perf_tp", "sched_switch")).isEqualTo(new LinkDetail.Tracepoint("sched_switch", 7));
        assertThat(detail("perf_event")).isEqualTo(new LinkDetail.PerfEvent(1, 9, 7));
    }

    @Test
    void network() {
        assertThat(detail("xdp")).isEqualTo(new LinkDetail.Xdp(4));
        assertThat(detail("tcx")).isEqualTo(new LinkDetail.Tcx(4, Optional.of(AttachType.TCX_INGRESS)));
        assertThat(detail("netkit")).isEqualTo(new LinkDetail.Netkit(4, Optional.of(AttachType.NETKIT_PEER)));
        assertThat(detail("netfilter")).isEqualTo(new LinkDetail.Netfilter(2, 3, -100, 1));
        assertThat(detail("netns")).isEqualTo(new LinkDetail.NetNamespace(8, Optional.of(AttachType.SK_LOOKUP)));
        assertThat(detail("sockmap")).isEqualTo(new LinkDetail.Sockmap(6, Optional.of(AttachType.SK_MSG_VERDICT)));
        assertThat(detail("cgroup"))
                .isEqualTo(new LinkDetail.Cgroup(0x1_0000_0002L, Optional.of(AttachType.CGROUP_INET_EGRESS)));
    }

    @Test
    void whatIsNewerThanThisLibraryIsKeptAsBytes() {
        byte[] bytes = new byte[48];
        bytes[0] = 0x7f;
        LinkDetail unknown = LinkKinds.detail(new RawLinkInfo(99, 1, 2, bytes, ""));
        assertThat(unknown).isEqualTo(new LinkDetail.Unknown("7f" + "00".repeat(47)));
        // A perf event of a kernel that doesn't tell which.
        assertThat(LinkKinds.detail(new RawLinkInfo(7, 1, 2, new byte[48], ""))).isInstanceOf(LinkDetail.Unknown.class);
    }
}
