package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFTOOL;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.CGROUP_ORDER;
import static io.bpf4j.test.support.Requirement.NETKIT;
import static io.bpf4j.test.support.Requirement.NET_NAMESPACES;
import static io.bpf4j.test.support.Requirement.TCX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.AttachedPrograms.Entry;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.NetkitPair;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The programs that are attached to a target, compared with those that bpftool shows. */
@Requires({BPF, NET_NAMESPACES})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class AttachedProgramsOnKernelTest {
    private static final Tcx INGRESS = Tcx.ingress(NetDevice.named("lo"));

    private static BpfObject hooks(String... programs) {
        return Bpf.load("hooks.bpf.o", programs);
    }

    private static Entry entry(Link link) {
        return new Entry(link.info().programId(), OptionalInt.of(link.info().id()), 0);
    }

    /** The list that a command prints as JSON; bpftool prints nothing for an empty one. */
    private static List<?> json(String... command) throws IOException, InterruptedException {
        String list = Commands.check(List.of(command));
        return list.isBlank() ? List.of() : Json.list(list);
    }

    private static long number(Object map, String key) {
        return Objects.requireNonNull((Long) ((Map<?, ?>) map).get(key));
    }

    @Test
    @Requires(TCX)
    void tcxHasAnOrderAndARevision() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("tcx_one", "tcx_two", "tcx_three")) {
            AttachedPrograms none = Links.attachedTo(INGRESS);
            assertThat(none.programs()).isEmpty();
            try (Link two = object.program("tcx_two").attach(INGRESS);
                    Link one = object.program("tcx_one").attach(INGRESS.withAnchor(Anchor.before(two)))) {
                AttachedPrograms both = Links.attachedTo(INGRESS);
                assertThat(both.programs()).containsExactly(entry(one), entry(two));
                assertThat(both.revision()).isGreaterThan(none.revision());
                assertThat(Links.attachedTo(Tcx.egress(NetDevice.of(1))).programs())
                        .isEmpty();
                try (Link three = object.program("tcx_three")
                        .attach(INGRESS.withAnchor(Anchor.first().atRevision(both.revision())))) {
                    assertThat(Links.attachedTo(INGRESS).programs())
                            .containsExactly(entry(three), entry(one), entry(two));
                }
                assertThatThrownBy(() -> object.program("tcx_three")
                                .attach(INGRESS.withAnchor(Anchor.first().atRevision(both.revision()))))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("revision");
            }
        }
    }

    /**
     * bpftool before 7.3 does not know tcx, but shows the program of each link. That of Debian 13 (7.5) shows a link of
     * a network device and then ends with 255.
     */
    @Test
    @Requires({TCX, BPFTOOL})
    void tcxAsBpftoolShowsIt() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("tcx_one", "tcx_two");
                Link _ = object.program("tcx_one").attach(INGRESS);
                Link _ = object.program("tcx_two").attach(INGRESS)) {
            List<Entry> programs = Links.attachedTo(INGRESS).programs();
            assertThat(programs).hasSize(2);
            for (Entry program : programs) {
                String link = Commands.run(List.of(
                                "bpftool",
                                "--json",
                                "link",
                                "show",
                                "id",
                                Integer.toString(program.linkId().getAsInt())))
                        .out();
                assertThat(number(Json.object(link), "prog_id")).isEqualTo(program.programId());
            }
        }
    }

    @Test
    @Requires(NETKIT)
    void netkit() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                NetkitPair pair = NetkitPair.create();
                BpfObject object = hooks("on_netkit", "on_netkit_peer")) {
            NetDevice device = NetDevice.named(pair.primary());
            try (Link primary = object.program("on_netkit").attach(Netkit.primary(device));
                    Link peer = object.program("on_netkit_peer").attach(Netkit.peer(device))) {
                assertThat(Links.attachedTo(Netkit.primary(device)).programs()).containsExactly(entry(primary));
                assertThat(Links.attachedTo(Netkit.peer(device)).programs()).containsExactly(entry(peer));
            }
        }
    }

    @Test
    @Requires({CGROUP2, BPFTOOL})
    void controlGroupsAndTheirAncestors(@TempDir Path folder) throws Exception {
        try (OwnGroup group = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two", "on_socket")) {
            Path below = Files.createDirectory(group.directory().resolve("below"));
            Cgroup outer = Cgroup.of(group.directory()).withAttachType(AttachType.CGROUP_INET_EGRESS);
            Cgroup inner = Cgroup.of(below).withAttachType(AttachType.CGROUP_INET_EGRESS);
            try (Link one = object.program("egress_one").attach(outer);
                    Link two = object.program("egress_two").attach(inner);
                    Link socket = object.program("on_socket").attach(Cgroup.of(below))) {
                int oneId = one.info().programId();
                int twoId = two.info().programId();
                AttachedPrograms direct = Links.attachedTo(inner);
                assertThat(direct.programs()).extracting(Entry::programId).containsExactly(twoId);
                assertThat(direct.flags()).isEqualTo(AttachedPrograms.ALLOW_MULTI);
                assertThat(Links.attachedTo(outer).programs())
                        .extracting(Entry::programId)
                        .containsExactly(oneId);
                // Other programs may be attached to groups above both.
                assertThat(Links.effectiveIn(inner).programs())
                        .extracting(Entry::programId)
                        .containsSubsequence(twoId, oneId);
                assertThat(Links.effectiveIn(outer).programs())
                        .extracting(Entry::programId)
                        .contains(oneId)
                        .doesNotContain(twoId);

                Files.createDirectory(below.resolve("empty"));
                assertThat(Links.attachedBelow(outer))
                        .containsExactly(
                                Map.entry(group.directory(), Links.attachedTo(outer)), Map.entry(below, direct));
                assertThat(Links.attachedBelow(inner)).containsOnlyKeys(below);
                Path link = Files.createSymbolicLink(folder.resolve("link"), group.directory());
                assertThat(Links.attachedBelow(Cgroup.of(link).withAttachType(AttachType.CGROUP_INET_EGRESS)))
                        .containsOnlyKeys(link, link.resolve(below.getFileName()));
                Files.delete(below.resolve("empty"));

                List<?> shown = json("bpftool", "--json", "cgroup", "show", below.toString());
                assertThat(shown)
                        .extracting(program -> number(program, "id"))
                        .containsExactlyInAnyOrder(
                                (long) twoId, (long) socket.info().programId());
                assertThat(json("bpftool", "--json", "cgroup", "show", below.toString(), "effective").stream()
                                .map(program -> (int) number(program, "id")))
                        .containsAll(Links.effectiveIn(inner).programs().stream()
                                .map(Entry::programId)
                                .toList());
            }
            Await.until("nothing attached", () -> Links.attachedTo(inner).programs(), List::isEmpty);
            Files.delete(below);
        }
    }

    @Test
    void aTreeThatIsNoneIsRefused() {
        Cgroup none = Cgroup.of(Path.of("/no/such")).withAttachType(AttachType.CGROUP_INET_EGRESS);
        assertThatThrownBy(() -> Links.attachedBelow(none)).isInstanceOf(NoSuchFileException.class);
        Cgroup file = Cgroup.of(Path.of("/proc/self/status"));
        assertThatThrownBy(() -> Links.attachedBelow(file)).isInstanceOf(NotDirectoryException.class);
        Cgroup files = Cgroup.of(Path.of("/tmp")).withAttachType(AttachType.CGROUP_INET_EGRESS);
        assertThatThrownBy(() -> Links.attachedBelow(files))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("is not a control group of version 2");
    }

    @Test
    @Requires({CGROUP2, CGROUP_ORDER})
    void theRevisionOfAControlGroup() throws Exception {
        try (OwnGroup group = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two")) {
            Cgroup own = Cgroup.of(group.directory()).withAttachType(AttachType.CGROUP_INET_EGRESS);
            long before = Links.attachedTo(own).revision();
            try (Link _ = object.program("egress_one").attach(own)) {
                assertThatThrownBy(() -> object.program("egress_two")
                                .attach(own.withAnchor(Anchor.first().atRevision(before))))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("revision");
                long now = Links.attachedTo(own).revision();
                try (Link two = object.program("egress_two")
                        .attach(own.withAnchor(Anchor.first().atRevision(now)))) {
                    assertThat(Links.attachedTo(own).programs().getFirst().programId())
                            .isEqualTo(two.info().programId());
                }
            }
        }
    }

    @Test
    void networkNamespaces() throws Exception {
        NetNamespace own = NetNamespace.of(OwnNetwork.FILE);
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hooks("on_lookup", "on_lookup_other", "on_dissect");
                Link first = object.program("on_lookup").attach(own);
                Link second = object.program("on_lookup_other").attach(own);
                Link dissector = object.program("on_dissect").attach(own)) {
            assertThat(Links.attachedTo(own.withAttachType(AttachType.SK_LOOKUP))
                            .programs())
                    .extracting(Entry::programId)
                    .containsExactly(first.info().programId(), second.info().programId());
            assertThat(Links.attachedTo(own.withAttachType(AttachType.FLOW_DISSECTOR))
                            .programs())
                    .extracting(Entry::programId)
                    .containsExactly(dissector.info().programId());
        }
    }

    @Test
    void socketMaps() {
        try (BpfObject object = hooks("on_message")) {
            Sockmap sockets = Sockmap.of(object.map("sockets")).withAttachType(AttachType.SK_MSG_VERDICT);
            assertThat(Links.attachedTo(sockets).programs()).isEmpty();
            try (Link _ = object.program("on_message").attach(sockets)) {
                assertThat(Links.attachedTo(sockets).programs())
                        .containsExactly(new Entry(object.program("on_message").id(), OptionalInt.empty(), 0));
            }
            assertThatThrownBy(() -> Links.attachedTo(
                            Sockmap.of(object.map("numbers")).withAttachType(AttachType.SK_MSG_VERDICT)))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("numbers")
                    .hasMessageContaining("a map of this type");
        }
    }

    @Test
    void missingAndOtherTargetsAreRefused() throws Exception {
        assertRefused(Tcx.ingress(NetDevice.named("no_such_dev")), Errno.ENODEV, "no_such_dev");
        assertRefused(Tcx.ingress(NetDevice.of(987_654)), Errno.ENODEV, "the device does not exist");
        assertRefused(
                Cgroup.of(Path.of("/tmp")).withAttachType(AttachType.CGROUP_INET_EGRESS),
                Errno.EBADF,
                "control group of version 2");
        assertRefused(
                Cgroup.of(Path.of("/no/such")).withAttachType(AttachType.CGROUP_INET_EGRESS), Errno.ENOENT, "/no/such");
        assertRefused(
                NetNamespace.of(Path.of("/proc/self/ns/pid")).withAttachType(AttachType.SK_LOOKUP),
                Errno.EINVAL,
                "not a network namespace");
        assertRefused(
                NetNamespace.of(OwnNetwork.FILE).withAttachType(AttachType.XDP),
                Errno.EINVAL,
                "programs of this attach type");
    }

    private static void assertRefused(AttachTarget target, Errno errno, String message) {
        assertThatThrownBy(() -> Links.attachedTo(target))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageContaining(message);
    }
}
