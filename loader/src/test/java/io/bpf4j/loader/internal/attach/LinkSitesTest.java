package io.bpf4j.loader.internal.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The sites of links, also on kernels that do not report them; {@code OpenProbesOnKernelTest} has real ones. */
class LinkSitesTest {
    private static final int KPROBE_MULTI = 8;
    private static final int UPROBE_MULTI = 12;
    private static final int KPROBE_COUNT = 8;
    private static final int UPROBE_COUNT = 36;

    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private Link link(int type, int countAt, int count) {
        byte[] detail = new byte[48];
        ByteBuffer.wrap(detail).order(ByteOrder.nativeOrder()).putInt(countAt, count);
        kernel.answer(ObjectCommand.FdById.class, _ -> kernel.newFd("link 5"));
        kernel.answer(ObjectCommand.InfoOfLink.class, _ -> new RawLinkInfo(type, 5, 7, detail, ""));
        return OpenLinks.byId(kernel, 5);
    }

    @Test
    void eachArrayHasRoomForAllSites() {
        kernel.answer(ObjectCommand.SitesOfLink.class, of -> {
            assertThat(of.count()).isEqualTo(2);
            return of.fields().pointers().stream()
                    .map(name -> new long[] {name.length(), -name.length()})
                    .toList();
        });
        try (Link uprobes = link(UPROBE_MULTI, UPROBE_COUNT, 2)) {
            assertThat(uprobes.sites()).isEqualTo(List.of(new Link.Site(7, 15, 7), new Link.Site(-7, -15, -7)));
        }
        try (Link kprobes = link(KPROBE_MULTI, KPROBE_COUNT, 2)) {
            assertThat(kprobes.sites()).isEqualTo(List.of(new Link.Site(5, 0, 7), new Link.Site(-5, 0, -7)));
        }
    }

    @Test
    void olderKernelsReportNoSites() {
        try (Link uprobes = link(UPROBE_MULTI, UPROBE_COUNT, 0)) {
            assertThatThrownBy(uprobes::sites)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("link 5")
                    .hasMessageContaining("Linux 6.8");
        }
    }

    @Test
    void otherLinksHaveNoSites() {
        try (Link xdp = link(6, 0, 4)) {
            assertThatThrownBy(xdp::sites)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage("link 5 is not a link of many uprobes or kprobes");
        }
    }
}
