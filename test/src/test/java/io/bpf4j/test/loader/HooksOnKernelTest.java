package io.bpf4j.test.loader;

import static io.bpf4j.loader.link.Netfilter.Hook.LOCAL_IN;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.BREAKPOINTS;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.CGROUP_ORDER;
import static io.bpf4j.test.support.Requirement.COUNTED_WRITES;
import static io.bpf4j.test.support.Requirement.NETFILTER_LINK;
import static io.bpf4j.test.support.Requirement.NETKIT;
import static io.bpf4j.test.support.Requirement.NET_NAMESPACES;
import static io.bpf4j.test.support.Requirement.TCX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.LinkInfo;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netfilter;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Loopback;
import io.bpf4j.test.support.NetkitPair;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What packets, sockets and clocks pass: each hook runs its program, and no more once the link is closed. */
@Requires({BPF, NET_NAMESPACES})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class HooksOnKernelTest {
    private static final NetDevice LOOPBACK = NetDevice.named("lo");
    private static final int LOOPBACK_INDEX = 1;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private static BpfObject hooks(String... programs) {
        return Bpf.load("hooks.bpf.o", programs);
    }

    /** Packets reach the program while it is attached, and not afterwards. */
    private static void assertCounts(BpfObject object, Link link, String counter)
            throws IOException, InterruptedException {
        Loopback.sendUntil(() -> Bpf.u64(object, counter) > 0);
        link.close();
        assertThat(link.isClosed()).isTrue();
        OwnNetwork.awaitNoMore(object, counter);
    }

    @Test
    void xdp() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_xdp");
                Link link = object.program("on_xdp").attach(Xdp.on(LOOPBACK).withMode(Xdp.Mode.GENERIC))) {
            LinkInfo info = link.info();
            assertThat(info.typeNumber()).as("BPF_LINK_TYPE_XDP").isEqualTo(6);
            assertThat(info.programId()).isEqualTo(object.program("on_xdp").id());
            assertThat(info.detail()).isEqualTo(new LinkDetail.Xdp(LOOPBACK_INDEX));
            assertCounts(object, link, "xdp_hits");
        }
    }

    @Test
    void xdpIsRefusedWithTheReason() throws IOException {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_xdp", "on_xdp_other", "on_tc");
                Link link = object.program("on_xdp").attach(Xdp.on(LOOPBACK))) {
            assertThatThrownBy(() -> object.program("on_xdp_other").attach(Xdp.on(LOOPBACK)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("XDP of lo")
                    .hasMessageContaining("already");
            assertThatThrownBy(() -> object.program("on_xdp_other").attach(Xdp.on(NetDevice.named("no_such_dev"))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("no_such_dev");
            assertThatThrownBy(() -> object.program("on_xdp_other")
                            .attach(Xdp.on(NetDevice.of(LOOPBACK_INDEX)).withMode(Xdp.Mode.DRIVER)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("device 1");
            assertThatThrownBy(() -> object.program("on_tc").attach(Xdp.on(LOOPBACK)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("on_tc");
        }
    }

    @Test
    void anUpdateSwapsThePrograms() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_xdp", "on_xdp_other", "on_tc");
                Link link = object.program("on_xdp").attach(Xdp.on(LOOPBACK))) {
            int id = link.info().id();
            link.update(object.program("on_xdp_other"), object.program("on_xdp"));
            assertThat(link.info().id()).isEqualTo(id);
            assertThat(link.info().programId())
                    .isEqualTo(object.program("on_xdp_other").id());
            Loopback.sendUntil(() -> Bpf.u64(object, "xdp_other_hits") > 0);
            assertThatThrownBy(() -> link.update(object.program("on_xdp_other"), object.program("on_xdp")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("expected");
            assertThatThrownBy(() -> link.update(object.program("on_tc"))).isInstanceOf(AttachException.class);
            link.update(object.program("on_xdp"));
            assertCounts(object, link, "xdp_hits");
        }
    }

    @Test
    void aDetachedLinkStaysAndDoesNothing() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_xdp");
                Link link = object.program("on_xdp").attach(Xdp.on(LOOPBACK))) {
            Loopback.sendUntil(() -> Bpf.u64(object, "xdp_hits") > 0);
            link.detach();
            OwnNetwork.awaitNoMore(object, "xdp_hits");
            assertThat(link.isClosed()).isFalse();
            assertThat(link.info().detail()).as("attached to nothing").isEqualTo(new LinkDetail.Xdp(0));
            assertThatThrownBy(() -> link.update(object.program("on_xdp")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("detached");
        }
    }

    @Test
    @Requires(TCX)
    void tcxInOrder() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("tcx_one", "tcx_two", "tcx_three");
                Link three = object.program("tcx_three").attach(Tcx.ingress(LOOPBACK));
                Link one =
                        object.program("tcx_one").attach(Tcx.ingress(LOOPBACK).withAnchor(Anchor.first()));
                Link two =
                        object.program("tcx_two").attach(Tcx.ingress(LOOPBACK).withAnchor(Anchor.before(three)))) {
            assertThat(two.info().detail())
                    .isEqualTo(new LinkDetail.Tcx(LOOPBACK_INDEX, Optional.of(AttachType.TCX_INGRESS)));
            Loopback.sendUntil(() -> Bpf.u64(object, "order") == 123);
            two.close();
            Anchor afterThree = Anchor.of(
                    Anchor.Side.AFTER, new Anchor.OfLinkId(three.info().id()));
            try (Link again = Bpf.attachAgain(
                    object.program("tcx_two"), Tcx.ingress(LOOPBACK).withAnchor(afterThree))) {
                Loopback.sendUntil(() -> Bpf.u64(object, "order") == 132);
            }
            assertThatThrownBy(() -> object.program("tcx_two")
                            .attach(Tcx.ingress(LOOPBACK)
                                    .withAnchor(Anchor.last().atRevision(1_000_000))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("revision");
            assertThatThrownBy(() -> object.program("tcx_one").attach(Tcx.ingress(LOOPBACK)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("already");
        }
    }

    @Test
    @Requires(TCX)
    void tcxOfAProgramForNoDirection() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc");
                Link link = object.program("on_tc").attach(Tcx.egress(LOOPBACK))) {
            assertThat(link.info().detail())
                    .isEqualTo(new LinkDetail.Tcx(LOOPBACK_INDEX, Optional.of(AttachType.TCX_EGRESS)));
            assertCounts(object, link, "tc_hits");
        }
    }

    @Test
    @Requires(NETKIT)
    void netkit() throws Exception {
        // The commands that make and delete the pair inherit the network.
        try (OwnNetwork _ = OwnNetwork.enter();
                NetkitPair pair = NetkitPair.create();
                BpfObject object = hooks("on_netkit", "on_netkit_peer");
                Link link = object.program("on_netkit").attach(Netkit.primary(NetDevice.named(pair.primary())));
                Link ofPeer = object.program("on_netkit_peer").attach(Netkit.peer(NetDevice.named(pair.primary())))) {
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_NETKIT").isEqualTo(13);
            assertThat(link.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.Netkit.class,
                            netkit -> assertThat(netkit.attachType()).contains(AttachType.NETKIT_PRIMARY));
            assertThat(ofPeer.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.Netkit.class,
                            netkit -> assertThat(netkit.attachType()).contains(AttachType.NETKIT_PEER));
            long before = Bpf.u64(object, "netkit_hits");
            pair.sendFromPrimary();
            assertThat(Bpf.u64(object, "netkit_hits")).isEqualTo(before + 1);
            before = Bpf.u64(object, "netkit_peer_hits");
            pair.sendFromPeer();
            assertThat(Bpf.u64(object, "netkit_peer_hits")).isEqualTo(before + 1);
            link.close();
            Bpf.awaitNotCounted(object, "netkit_hits", pair::sendFromPrimary);
        }
    }

    @Test
    @Requires(NETFILTER_LINK)
    void netfilter() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_netfilter");
                Link link = object.program("on_netfilter").attach(Netfilter.ipv4(LOCAL_IN, 1234))) {
            assertThat(link.info().detail()).isEqualTo(new LinkDetail.Netfilter(2, 1, 1234, 0));
            assertThatThrownBy(() -> object.program("on_netfilter").attach(Netfilter.ipv4(LOCAL_IN, 1234)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("priority");
            assertThatThrownBy(() -> object.program("on_netfilter").attach(Netfilter.ipv4(LOCAL_IN, Integer.MIN_VALUE)))
                    .isInstanceOf(AttachException.class);
            assertCounts(object, link, "netfilter_hits");
        }
    }

    @Test
    void socketLookup() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_lookup", "on_lookup_other");
                Link link = object.program("on_lookup").attach(NetNamespace.of(OwnNetwork.FILE))) {
            assertThat(link.info().detail())
                    .isEqualTo(new LinkDetail.NetNamespace(inode(OwnNetwork.FILE), Optional.of(AttachType.SK_LOOKUP)));
            try (Link other = object.program("on_lookup_other").attach(NetNamespace.of(OwnNetwork.FILE))) {
                Loopback.sendUntil(() -> Bpf.u64(object, "lookup_hits") > 0);
            }
            assertCounts(object, link, "lookup_hits");
            assertThatThrownBy(() -> object.program("on_lookup").attach(NetNamespace.of(Path.of("/proc/self/ns/pid"))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/proc/self/ns/pid");
        }
    }

    private static int inode(Path namespace) throws IOException {
        return (int) (long) (Long) Files.getAttribute(namespace, "unix:ino");
    }

    @Test
    void flowDissector() throws IOException {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_dissect");
                Link link = object.program("on_dissect").attach(NetNamespace.of(OwnNetwork.FILE))) {
            assertThat(link.info().detail())
                    .isInstanceOfSatisfying(
                            LinkDetail.NetNamespace.class,
                            namespace -> assertThat(namespace.attachType()).contains(AttachType.FLOW_DISSECTOR));
            assertThatThrownBy(() -> object.program("on_dissect").attach(NetNamespace.of(OwnNetwork.FILE)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("flow dissector");
        }
    }

    @Test
    @Requires(CGROUP2)
    void controlGroup() throws Exception {
        try (OwnGroup group = OwnGroup.enter();
                BpfObject object = hooks("on_egress", "on_packet", "on_socket")) {
            AttachTarget own = Cgroup.of(group.directory());
            try (Link link = object.program("on_egress").attach(own)) {
                assertThat(link.info().detail()).isInstanceOfSatisfying(LinkDetail.Cgroup.class, detail -> {
                    assertThat(detail.attachType()).contains(AttachType.CGROUP_INET_EGRESS);
                    assertThat(detail.id()).isPositive();
                });
                assertCounts(object, link, "egress_hits");
            }
            try (Link link = object.program("on_socket").attach(own)) {
                assertCounts(object, link, "socket_hits");
            }
            assertThatThrownBy(() -> object.program("on_packet").attach(own))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("attach type");
            assertThatThrownBy(() -> object.program("on_egress").attach(Cgroup.of(Path.of("/tmp"))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("/tmp")
                    .hasMessageContaining("version 2");
        }
    }

    @Test
    @Requires({CGROUP2, CGROUP_ORDER})
    void controlGroupInOrder() throws Exception {
        try (OwnGroup group = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two");
                Link two = object.program("egress_two").attach(Cgroup.of(group.directory()));
                Link one = object.program("egress_one")
                        .attach(Cgroup.of(group.directory()).withAnchor(Anchor.before(two)))) {
            Loopback.sendUntil(() -> Bpf.u64(object, "order") == 12);
            assertThat(one.info().id()).isNotEqualTo(two.info().id());
        }
    }

    @Test
    @Requires(CGROUP2)
    void aProgramForNoDirectionIsToldOne() throws Exception {
        try (OwnGroup group = OwnGroup.enter();
                BpfObject object = hooks("on_packet");
                Link link = object.program("on_packet")
                        .attach(Cgroup.of(group.directory()).withAttachType(AttachType.CGROUP_INET_EGRESS))) {
            assertCounts(object, link, "egress_hits");
        }
    }

    /** Connections to one port go into the map, and what is sent through them passes the program. */
    @Test
    @Requires(CGROUP2)
    void theSocketsOfAMap() throws Exception {
        InetAddress self = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (OwnGroup group = OwnGroup.enter();
                OwnNetwork _ = OwnNetwork.enter();
                ServerSocket server = new ServerSocket(0, 1, self);
                BpfObject object = Bpf.load(
                        "hooks.bpf.o",
                        loader -> loader.program("on_connection", p -> p.withAutoload(true))
                                .program("on_message", p -> p.withAutoload(true))
                                .program("on_stream", p -> p.withAutoload(true))
                                .global("target_port", server.getLocalPort()));
                Link connections = object.program("on_connection").attach(Cgroup.of(group.directory()));
                Link messages = object.program("on_message").attach(Sockmap.of(object.map("sockets")));
                Socket client = new Socket(self, server.getLocalPort());
                Socket accepted = server.accept()) {
            exchange(client, accepted);
            assertThat(Bpf.u64(object, "message_hits")).isEqualTo(1);
            messages.close();
            messages.close(); // twice is once
            try (Socket late = new Socket(self, server.getLocalPort());
                    Socket lateAccepted = server.accept()) {
                exchange(late, lateAccepted);
                assertThat(Bpf.u64(object, "message_hits"))
                        .as("a connection since the close")
                        .isEqualTo(1);
            }

            try (Link stream = object.program("on_stream").attach(Sockmap.of(object.map("sockets")))) {
                assertThat(stream.description()).contains("sockets");
            }
            assertThatThrownBy(() -> object.program("on_message").attach(Sockmap.of(object.map("numbers"))))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("numbers");
        }
    }

    private static void exchange(Socket from, Socket to) throws IOException {
        OutputStream out = from.getOutputStream();
        out.write(42);
        out.flush();
        to.setSoTimeout(OwnNetwork.PACKET_MILLIS);
        InputStream in = to.getInputStream();
        assertThat(in.read()).isEqualTo(42);
    }

    @Test
    void aClockOnEveryCpu() throws Exception {
        AttachTarget clock = PerfEvent.cpuClock(500);
        try (BpfObject object = hooks("on_clock");
                BpfObject witness = hooks("on_clock");
                Link link = object.program("on_clock").attach(clock)) {
            Await.until("ticks", () -> Bpf.u64(object, "clock_hits") >= 3);
            link.close();
            try (Link _ = witness.program("on_clock").attach(clock)) {
                Bpf.awaitNotCounted(object, "clock_hits", () -> {
                    long ticks = Bpf.u64(witness, "clock_hits");
                    Await.until("ticks of another clock", () -> Bpf.u64(witness, "clock_hits") >= ticks + 25);
                });
            }
        }
    }

    @Test
    @Requires(BPF_COOKIE)
    void aClockOfOneThread() throws Exception {
        // Software event 1 is the clock of a task; a million of its nanoseconds make it fire.
        PerfEvent clock = PerfEvent.every(1_000_000, 1, 1)
                .inThread(Math.toIntExact(ownThread()))
                .withCookie(99);
        try (BpfObject object = hooks("on_clock_cookie");
                Link link = object.program("on_clock_cookie").attach(clock)) {
            Await.until("ticks of this thread's clock", () -> {
                CorpusEvents.ofProcessor();
                return Bpf.u64(object, "clock_hits") >= 3;
            });
            assertThat(Bpf.u64(object, "clock_cookies")).isEqualTo(99);
            assertThat(link.info().typeNumber()).as("BPF_LINK_TYPE_PERF_EVENT").isEqualTo(7);
        }
    }

    @Test
    void pageFaultsOfOneThread() throws Exception {
        PerfEvent faults = PerfEvent.every(1, PerfEvent.Software.PAGE_FAULTS).inThread(Math.toIntExact(ownThread()));
        try (BpfObject object = hooks("on_clock");
                Link _ = object.program("on_clock").attach(faults)) {
            Await.until(
                    "a page fault for each new page",
                    () -> {
                        long before = Bpf.u64(object, "clock_hits");
                        try (Arena arena = Arena.ofConfined()) {
                            arena.allocate(64L << 20, 4096); // mapped anew, and cleared
                        }
                        return Bpf.u64(object, "clock_hits") - before;
                    },
                    hits -> hits > 10);
        }
    }

    /** Each write of this thread, and of those that it starts afterwards, is counted once. */
    @Test
    @Requires({BREAKPOINTS, COUNTED_WRITES})
    void writesToMemory() throws Exception {
        try (BpfObject object = hooks("on_clock");
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(8, 8);
            PerfEvent writes = PerfEvent.at(new PerfEvent.Breakpoint(memory.address(), 8, PerfEvent.Access.WRITE))
                    .inThread(Math.toIntExact(ownThread()));
            for (boolean inherited : new boolean[] {false, true}) {
                try (Link link = object.program("on_clock").attach(inherited ? writes.withInherited() : writes)) {
                    assertThat(link.description()).contains("WRITE of 8 bytes at 0x");
                    Bpf.awaitCounted(object, "clock_hits", inherited ? 8 : 5, () -> {
                        write(memory, 5);
                        Thread.ofPlatform().start(() -> write(memory, 3)).join();
                    });
                }
                Bpf.awaitNotCounted(object, "clock_hits", () -> write(memory, 7));
            }
        }
    }

    private static void write(MemorySegment memory, int times) {
        for (int i = 0; i < times; i++) {
            LONG.setVolatile(memory, 0L, (long) i);
        }
    }

    private static long ownThread() {
        try {
            return Long.parseLong(
                    Path.of("/proc/thread-self").toRealPath().getFileName().toString());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Objects may mix what names attach with what they can't. */
    @Test
    void whatNoNameAttachesIsLeftAlone() {
        try (BpfObject object = hooks("on_xdp", "on_clock");
                LinkGroup links = object.attachAll()) {
            assertThat(links.size()).isZero();
            assertThat(object.program("on_xdp").isAttachedBySection()).isFalse();
            assertThatThrownBy(() -> object.program("on_xdp").attach())
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("program.attach(target)");
        }
    }

    @Test
    void aDescriptorThatIsNoPerfEventIsRefused() {
        try (BpfObject object = hooks("on_clock")) {
            assertThatThrownBy(() -> object.program("on_clock").attach(OpenPerfEvent.of(1)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("is not a perf event");
            assertThatThrownBy(() -> object.program("on_clock").attach(OpenPerfEvent.of(987_654)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("987654");
        }
    }
}
