package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.IPROUTE;
import static io.bpf4j.test.support.Requirement.NET_NAMESPACES;
import static io.bpf4j.test.support.Requirement.TCX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.RedirectMap;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.AttachedPrograms.Entry;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.loader.link.Xdp.Mode;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Loopback;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs that are attached by netlink, as ip and tc show them, in a network namespace with devices of its own. */
@Requires({BPF, NET_NAMESPACES, IPROUTE})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block
class NetlinkOnKernelTest {
    private static final NetDevice LOOPBACK = NetDevice.named("lo");
    private static final Tc INGRESS = Tc.ingress(LOOPBACK);
    private static final Tc EGRESS = Tc.egress(LOOPBACK);

    /** A filter of classic BPF, which matches nothing. */
    private static final String[] ADD_OTHER = {
        "tc", "filter", "add", "dev", "lo", "ingress", "prio", "9", "bpf", "bytecode", "1,6 0 0 0,"
    };

    private static BpfObject hooks(String... programs) {
        return Bpf.load("hooks.bpf.o", programs);
    }

    private static String run(String... command) throws IOException, InterruptedException {
        return Commands.check(List.of(command));
    }

    /** The ids of the programs that tc shows, in its order. */
    private static List<Integer> shownByTc(String direction) throws IOException, InterruptedException {
        Matcher ids = Pattern.compile(" id (\\d+) ").matcher(run("tc", "filter", "show", "dev", "lo", direction));
        return ids.results().map(id -> Integer.parseInt(id.group(1))).toList();
    }

    private static boolean hasClsact() throws IOException, InterruptedException {
        return run("tc", "qdisc", "show", "dev", "lo").contains("clsact");
    }

    private static List<Integer> attachedTo(AttachTarget target) {
        return Links.attachedTo(target).programs().stream()
                .map(Entry::programId)
                .toList();
    }

    @Test
    void aFilterRunsAndItsQdiscGoesWithIt() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc")) {
            Program program = object.program("on_tc");
            for (Tc target : List.of(INGRESS, EGRESS)) {
                long before = Bpf.u64(object, "tc_hits");
                Link link = program.attach(target);
                assertThat(link.description()).contains("on_tc", "lo");
                Loopback.sendUntil(() -> Bpf.u64(object, "tc_hits") > before);
                assertThat(attachedTo(target)).containsExactly(program.id());
                assertThat(shownByTc(target.isIngress() ? "ingress" : "egress")).containsExactly(program.id());
                assertThat(shownByTc(target.isIngress() ? "egress" : "ingress")).isEmpty();
                assertThat(run("tc", "filter", "show", "dev", "lo", target.isIngress() ? "ingress" : "egress"))
                        .contains("direct-action", "on_tc", "protocol all");
                link.close();
                OwnNetwork.awaitNoMore(object, "tc_hits");
                assertThat(hasClsact()).isFalse();
                assertThat(attachedTo(target)).isEmpty();
                assertThatThrownBy(() -> link.update(program)).isInstanceOf(IllegalStateException.class);
                link.close();
            }
        }
    }

    @Test
    void filtersRunByPriority() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("tcx_one", "tcx_two", "tcx_three");
                Link _ = object.program("tcx_three").attach(INGRESS.withPriority(30));
                Link _ = object.program("tcx_one").attach(INGRESS.withPriority(10));
                Link _ = object.program("tcx_two")
                        .attach(INGRESS.withPriority(20).withHandle(0xabc))) {
            Loopback.sendUntil(() -> Bpf.u64(object, "order") == 123);
            assertThat(attachedTo(INGRESS))
                    .containsExactly(
                            object.program("tcx_one").id(),
                            object.program("tcx_two").id(),
                            object.program("tcx_three").id())
                    .isEqualTo(shownByTc("ingress"));
            assertThat(attachedTo(INGRESS.withPriority(20)))
                    .containsExactly(object.program("tcx_two").id());
            assertThat(attachedTo(INGRESS.withPriority(20).withHandle(1))).isEmpty();
            assertThat(run("tc", "filter", "show", "dev", "lo", "ingress")).contains("pref 20 bpf", "handle 0xabc");
            assertThatThrownBy(() -> object.program("tcx_one")
                            .attach(INGRESS.withPriority(20).withHandle(0xabc)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("EEXIST");
        }
    }

    @Test
    void aQdiscWithOtherFiltersStays() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "tcx_one")) {
            Link first = object.program("on_tc").attach(INGRESS);
            try (Link _ = object.program("tcx_one").attach(EGRESS)) {
                first.close();
                assertThat(shownByTc("egress"))
                        .containsExactly(object.program("tcx_one").id());
            }
            assertThat(hasClsact()).as("made by the first, and used by another").isTrue();
            object.program("on_tc").attach(INGRESS).close();
            assertThat(hasClsact()).as("made by another").isTrue();
        }
    }

    @Test
    void theProgramOfAFilterIsReplaced() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("tcx_one", "tcx_two", "on_tc");
                Link link = object.program("tcx_one").attach(INGRESS.withPriority(5))) {
            link.update(object.program("tcx_two"), object.program("tcx_one"));
            assertThat(shownByTc("ingress"))
                    .containsExactly(object.program("tcx_two").id());
            assertThatThrownBy(() -> link.update(object.program("on_tc"), object.program("tcx_one")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("expected");
            try (Program opened = Programs.byId(attachedTo(INGRESS).getFirst());
                    Link taker = object.program("on_tc").attach(INGRESS.replacing(opened))) {
                assertThat(shownByTc("ingress"))
                        .containsExactly(object.program("on_tc").id());
                link.close();
                assertThat(shownByTc("ingress"))
                        .as("the program of another in the place of the closed one")
                        .containsExactly(object.program("on_tc").id());
                assertThatThrownBy(() -> object.program("tcx_one").attach(INGRESS.replacing(opened)))
                        .isInstanceOf(RuntimeException.class)
                        .hasMessageContaining("no filter");
                taker.detach();
                assertThat(shownByTc("ingress")).isEmpty();
                assertThatThrownBy(() -> taker.update(object.program("tcx_one")))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("detached");
            }
        }
    }

    /** As after a process that ended without closing: whoever comes next finds the programs and detaches them. */
    @Test
    void programsThatWereLeftBehindAreDetached() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp", "on_xdp_other");
                Link filter = object.program("on_tc").attach(INGRESS);
                Link twin = object.program("on_tc").attach(INGRESS);
                Link xdp = object.program("on_xdp").attach(Xdp.on(LOOPBACK).withoutLink())) {
            assertThat(attachedTo(INGRESS)).hasSize(2);
            assertThat(Links.detach(INGRESS, object.program("on_tc"))).isTrue();
            assertThat(Links.detach(INGRESS, object.program("on_tc"))).isFalse();
            assertThat(shownByTc("ingress")).isEmpty();
            assertThat(Links.detach(Xdp.on(LOOPBACK), object.program("on_xdp_other")))
                    .isFalse();
            assertThat(Links.detach(Xdp.on(LOOPBACK), object.program("on_xdp"))).isTrue();
            assertThat(attachedTo(Xdp.on(LOOPBACK))).isEmpty();
            filter.close();
            twin.close();
            xdp.close();
            try (Link _ = object.program("on_xdp").attach(Xdp.on(LOOPBACK))) {
                assertThat(Links.detach(Xdp.on(LOOPBACK), object.program("on_xdp")))
                        .as("attached by a link")
                        .isFalse();
            }
        }
    }

    /** Of a protocol of its own, as tc makes them: deletion and replacement name the filter by its protocol, too. */
    @Test
    void filtersThatTcHasMadeAreReplacedAndDetached() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfFsMount pins = BpfFsMount.mount();
                BpfObject object = hooks("on_tc", "tcx_one")) {
            Path pin = pins.directory().resolve("filter");
            object.program("on_tc").pin(pin);
            run("tc", "qdisc", "add", "dev", "lo", "clsact");
            String[] add = {"tc", "filter", "add", "dev", "lo", "ingress", "protocol", "ip", "prio", "5", "bpf"};
            run(Stream.concat(Stream.of(add), Stream.of("da", "pinned", pin.toString()))
                    .toArray(String[]::new));
            try (Link taker = object.program("tcx_one").attach(INGRESS.replacing(object.program("on_tc")))) {
                assertThat(shownByTc("ingress"))
                        .containsExactly(object.program("tcx_one").id());
                taker.update(object.program("on_tc"));
            }
            assertThat(shownByTc("ingress")).isEmpty();
            run(Stream.concat(Stream.of(add), Stream.of("da", "pinned", pin.toString()))
                    .toArray(String[]::new));
            assertThat(attachedTo(INGRESS))
                    .containsExactly(object.program("on_tc").id());
            assertThat(Links.detach(INGRESS, object.program("on_tc"))).isTrue();
            assertThat(shownByTc("ingress")).isEmpty();
            assertThat(Links.detach(INGRESS, object.program("on_tc"))).isFalse();
        }
    }

    /** A thread of another namespace closes: by the socket of the link the kernel finds the right device. */
    @Test
    void aLinkIsClosedByAnyThread() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp")) {
            Link filter = object.program("on_tc").attach(INGRESS);
            Link xdp = object.program("on_xdp").attach(Xdp.on(LOOPBACK).withoutLink());
            filter.closeAsync().toCompletableFuture().get();
            xdp.closeAsync().toCompletableFuture().get();
            assertThat(hasClsact()).isFalse();
            assertThat(attachedTo(Xdp.on(LOOPBACK))).isEmpty();
        }
    }

    @Test
    void aDeviceThatIsGoneIsNoFailure() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp")) {
            run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
            Link filter = object.program("on_tc").attach(Tc.ingress(NetDevice.named("v0")));
            Link xdp = object.program("on_xdp")
                    .attach(Xdp.on(NetDevice.named("v0")).withoutLink());
            run("ip", "link", "delete", "v0");
            filter.close();
            xdp.close();
        }
    }

    @Test
    void filtersOfOthersComeAndGo() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc")) {
            run("tc", "qdisc", "add", "dev", "lo", "clsact");
            run(ADD_OTHER);
            Process others = new ProcessBuilder(
                            "sh",
                            "-c",
                            "while :; do tc filter del dev lo ingress prio 9; "
                                    + String.join(" ", ADD_OTHER).replace("1,6 0 0 0,", "'1,6 0 0 0,'") + "; done")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                Program program = object.program("on_tc");
                for (int i = 0; i < 100; i++) {
                    Link link = program.attach(INGRESS);
                    assertThat(attachedTo(INGRESS)).containsExactly(program.id());
                    if (i % 2 == 0) {
                        assertThat(Links.detach(INGRESS, program)).isTrue();
                    }
                    link.close();
                    assertThat(attachedTo(INGRESS)).isEmpty();
                }
                assertThat(others.isAlive()).isTrue();
            } finally {
                others.destroyForcibly().waitFor();
            }
        }
    }

    /** Renamed, deleted, and then another device has its number: what others have attached there stays. */
    @Test
    void aDeviceOfTheSameNumberKeepsItsPrograms() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "tcx_one", "on_xdp", "on_xdp_other")) {
            String[] make = {"ip", "link", "add", "v0", "index", "77", "type", "veth", "peer", "name", "v1"};
            run(make);
            Tc filters = Tc.ingress(NetDevice.of(77)).withPriority(5).withHandle(1);
            Xdp xdp = Xdp.on(NetDevice.of(77)).withoutLink();
            Link filter = object.program("on_tc").attach(filters);
            Link renamed = object.program("tcx_one").attach(Tc.egress(NetDevice.named("v0")));
            Link packets = object.program("on_xdp").attach(xdp);
            run("ip", "link", "set", "v0", "name", "w0");
            renamed.close();
            assertThat(attachedTo(Tc.egress(NetDevice.named("w0")))).isEmpty();
            run("ip", "link", "delete", "w0");
            run(make);
            try (Link _ = object.program("tcx_one").attach(filters);
                    Link _ = object.program("on_xdp_other").attach(xdp)) {
                filter.close();
                packets.close();
                assertThat(attachedTo(filters))
                        .containsExactly(object.program("tcx_one").id());
                assertThat(attachedTo(xdp))
                        .containsExactly(object.program("on_xdp_other").id());
            }
        }
    }

    @Test
    void aDeviceThatIsMovedTakesItsXdpProgramAlong() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp")) {
            Process other = new ProcessBuilder("unshare", "--net", "sleep", "3600").start();
            try {
                Path namespace = Path.of("/proc/" + other.pid() + "/ns/net");
                Await.until(
                        "another namespace",
                        () -> !Files.readSymbolicLink(namespace).equals(Files.readSymbolicLink(OwnNetwork.FILE)));
                run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
                Link filter = object.program("on_tc").attach(Tc.ingress(NetDevice.named("v0")));
                Link packets = object.program("on_xdp")
                        .attach(Xdp.on(NetDevice.named("v0")).withoutLink());
                run("ip", "link", "set", "v0", "netns", Long.toString(other.pid()));
                filter.close();
                packets.close();
                String enter = "--net=" + namespace;
                assertThat(run("nsenter", enter, "ip", "link", "show", "v0"))
                        .contains("id " + object.program("on_xdp").id());
                assertThat(run("nsenter", enter, "tc", "qdisc", "show", "dev", "v0"))
                        .doesNotContain("clsact");
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }

    /** The id of the XDP program that ip shows for a device; 0 for none. */
    private static int shownByIp(String device) throws IOException, InterruptedException {
        Map<?, ?> shown = (Map<?, ?>)
                Json.list(run("ip", "--json", "link", "show", "dev", device)).getFirst();
        if (!(shown.get("xdp") instanceof Map<?, ?> xdp)) {
            return 0;
        }
        return ((Long) Objects.requireNonNull(((Map<?, ?>) Objects.requireNonNull(xdp.get("prog"))).get("id")))
                .intValue();
    }

    @Test
    void xdpWithoutALink() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_xdp", "on_xdp_other")) {
            run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1");
            Program one = object.program("on_xdp");
            Program other = object.program("on_xdp_other");
            Xdp device = Xdp.on(NetDevice.named("v0"));
            Xdp driver = device.withMode(Mode.DRIVER).withoutLink();
            assertThat(Links.attachedTo(device)).isEqualTo(new AttachedPrograms(List.of(), 0, 0));
            try (Link link = one.attach(driver)) {
                assertThat(shownByIp("v0")).isEqualTo(one.id());
                assertThat(Links.attachedTo(device).programs())
                        .containsExactly(new Entry(one.id(), OptionalInt.empty(), Mode.DRIVER.flag()));
                assertThat(attachedTo(device.withMode(Mode.GENERIC))).isEmpty();
                assertThatThrownBy(() -> other.attach(driver))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("the kernel's reason: ")
                        .hasMessageContaining("Xdp.replacing");
                assertThatThrownBy(() -> other.attach(driver.replacing(other)))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("does not have the program");
                link.update(other);
                assertThat(shownByIp("v0")).isEqualTo(other.id());
                try (Link taker = one.attach(driver.replacing(other))) {
                    link.close();
                    assertThat(shownByIp("v0")).isEqualTo(one.id());
                    taker.detach();
                    assertThat(shownByIp("v0")).isZero();
                }
            }
            try (Link _ = one.attach(device.withMode(Mode.GENERIC))) {
                assertThat(Links.attachedTo(device).programs())
                        .as("by a link")
                        .containsExactly(new Entry(one.id(), OptionalInt.empty(), Mode.GENERIC.flag()));
            }
            run("ip", "link", "set", "v0", "mtu", "9000");
            run("ip", "link", "set", "v1", "mtu", "9000");
            assertThatThrownBy(() -> one.attach(driver))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("MTU");
        }
    }

    @Test
    @Requires(BPFTOOL)
    void whatBpftoolShows() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp");
                Link _ = object.program("on_tc").attach(EGRESS);
                Link _ = object.program("on_xdp").attach(Xdp.on(LOOPBACK).withoutLink())) {
            Map<?, ?> shown =
                    (Map<?, ?>) Objects.requireNonNull(Json.list(run("bpftool", "--json", "net", "show", "dev", "lo"))
                            .getFirst());
            Map<?, ?> filter =
                    (Map<?, ?>) Objects.requireNonNull(((List<?>) Objects.requireNonNull(shown.get("tc"))).getFirst());
            assertThat(filter.get("kind")).isEqualTo("clsact/egress");
            assertThat(filter.get("id"))
                    .isEqualTo((long) object.program("on_tc").id());
            Map<?, ?> xdp =
                    (Map<?, ?>) Objects.requireNonNull(((List<?>) Objects.requireNonNull(shown.get("xdp"))).getFirst());
            assertThat(xdp.get("id")).isEqualTo((long) object.program("on_xdp").id());
        }
    }

    @Test
    void whatDoesNotFitIsRefusedWithTheReason() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc", "on_xdp")) {
            run("tc", "qdisc", "add", "dev", "lo", "ingress");
            assertThatThrownBy(() -> object.program("on_tc").attach(EGRESS))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("excludes clsact");
            run("tc", "qdisc", "delete", "dev", "lo", "ingress");
            assertThatThrownBy(() -> object.program("on_xdp").attach(INGRESS)).isInstanceOf(AttachException.class);
            assertThat(hasClsact()).as("a failure leaves no qdisc").isFalse();
            NetDevice missing = NetDevice.of(987_654);
            assertThatThrownBy(() -> object.program("on_tc").attach(Tc.ingress(missing)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("device 987654");
            for (AttachTarget target : List.of(Tc.ingress(missing), Xdp.on(missing))) {
                assertThatThrownBy(() -> Links.attachedTo(target))
                        .isInstanceOfSatisfying(
                                SyscallException.class,
                                e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
            }
        }
    }

    @Test
    @Requires(TCX)
    void aFallbackIsNotTakenWhereTheKernelHasLinks() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_tc");
                Link link = object.program("on_tc").attach(Tcx.ingress(LOOPBACK).withFilterFallback())) {
            assertThat(link.info().programId())
                    .isEqualTo(object.program("on_tc").id());
            assertThat(attachedTo(INGRESS)).isEmpty();
        }
    }

    /**
     * Two pairs of devices: what is sent into the first pair comes out at its other end, is redirected to the second
     * pair by a DEVMAP whose entry has a program, and comes out there, changed by that program.
     */
    @Test
    void aPacketRunsThroughTheProgramOfADevice() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = Bpf.load("network.bpf.o", "redirect_all", "at_device", "on_arrival")) {
            for (String pair : List.of("a", "b")) {
                run("ip", "link", "add", pair + "0", "type", "veth", "peer", "name", pair + "1");
                run("ip", "link", "set", pair + "0", "up");
                run("ip", "link", "set", pair + "1", "up");
            }
            run("ip", "address", "add", "192.0.2.1/24", "dev", "a0");
            run("ip", "neighbour", "add", "192.0.2.2", "lladdr", "02:00:00:00:00:02", "dev", "a0");
            int in = index("a1");
            int out = index("b0");
            RedirectMap.of(object.map("devices")).put(0, out, object.program("at_device"));
            try (Link _ = object.program("redirect_all")
                            .attach(Xdp.on(NetDevice.named("a1")).withMode(Mode.DRIVER));
                    Link _ = object.program("on_arrival")
                            .attach(Xdp.on(NetDevice.named("b1")).withMode(Mode.DRIVER));
                    DatagramSocket socket = new DatagramSocket()) {
                InetAddress behind = InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 2});
                Await.until("a packet at the end", () -> {
                    socket.send(new DatagramPacket(new byte[] {1}, 1, behind, 9));
                    return Bpf.u64(object, "arrived") > 0;
                });
                assertThat(Bpf.u64(object, "at_device_runs")).isPositive();
                assertThat(Bpf.u64(object, "redirected")).isPositive();
                assertThat(Bpf.u64(object, "arrived_unmarked")).isZero();
                assertThat(Bpf.u32(object, "from_device")).isEqualTo(in);
                assertThat(Bpf.u32(object, "to_device")).isEqualTo(out);
            }
        }
    }

    /** Java knows only devices that have an address. */
    private static int index(String device) {
        return Kernel.of(Host.running()).execute(new FileCommand.DeviceIndex(device));
    }
}
