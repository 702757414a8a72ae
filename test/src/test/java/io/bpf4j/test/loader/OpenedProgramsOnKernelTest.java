package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.NET_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Loopback;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs that are opened again, by pin or id, without the object that loaded them. */
@Requires({BPF, NET_NAMESPACES})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block: nothing may fire after that
class OpenedProgramsOnKernelTest {
    private static BpfObject hook(String program) {
        return Bpf.load("hooks.bpf.o", loader -> loader.program(program, p -> p.withAutoload(true)));
    }

    @Test
    @Requires(BPFFS)
    void aPinnedProgramLivesOnWithoutItsObject() {
        try (BpfFsMount bpffs = BpfFsMount.mount()) {
            int id;
            try (BpfObject object = Bpf.load("test_runs.bpf.o")) {
                object.program("longer").pin(bpffs.path("longer"));
                id = object.program("longer").id();
            }
            try (Program longer = Programs.pinned(bpffs.path("longer"))) {
                assertThat(longer.name()).isEqualTo("longer");
                assertThat(longer.id()).isEqualTo(id);
                assertThat(longer.info().typeNumber()).isEqualTo(ProgramType.XDP.number());
                assertThat(longer.test(TestRun.onData(new byte[60])).data()).hasSize(68);
                assertThat(longer.verifierLog()).isEmpty();
                assertThat(longer.isAttachedBySection()).isFalse();
                assertThatThrownBy(longer::attach)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("program longer was opened by its id or pin");
                longer.pin(bpffs.path("again"));
                assertThat(longer.unpin(bpffs.path("longer"))).isTrue();
            }
            try (Program again = Programs.pinned(bpffs.path("again"))) {
                assertThat(again.id()).isEqualTo(id);
                assertThat(again.unpin(bpffs.path("again"))).isTrue();
            }
            assertThatThrownBy(() -> Programs.pinned(bpffs.path("again")))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
        }
    }

    @Test
    @Requires(BPFFS)
    void mapsAndProgramsAreListedAndNotMistakenForEachOther() {
        try (BpfFsMount bpffs = BpfFsMount.mount();
                BpfObject object = hook("on_xdp")) {
            Program program = object.program("on_xdp");
            BpfMap map = object.maps().iterator().next();
            assertThat(Programs.ids()).contains(program.id()).isSorted();
            assertThat(Maps.ids()).contains(map.id()).isSorted();
            program.pin(bpffs.path("program"));
            map.pin(bpffs.path("map"));
            assertThatThrownBy(() -> Programs.pinned(bpffs.path("map")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is the pin of a map, not of a program");
            assertThatThrownBy(() -> Maps.pinned(bpffs.path("program"))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Programs.byId(Integer.MAX_VALUE)).isInstanceOf(SyscallException.class);
        }
    }

    @Test
    void aRunningProgramIsAttachedByItsId() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = hook("on_xdp");
                Program same = Programs.byId(object.program("on_xdp").id());
                Link link = same.attach(Xdp.on(NetDevice.named("lo")))) {
            assertThat(link.description()).isEqualTo("on_xdp to XDP of lo");
            assertThat(link.info().programId()).isEqualTo(same.id());
            same.close();
            Loopback.sendUntil(() -> Bpf.u64(object, "xdp_hits") > 0);
        }
    }

    /** A network has room for many such programs, which let every packet pass. */
    @Test
    void anAttachTypeThatTheProgramTypeHasAloneIsKnown() throws IOException {
        try (BpfObject object = hook("on_lookup");
                Program same = Programs.byId(object.program("on_lookup").id());
                Link link = same.attach(NetNamespace.own())) {
            assertThat(same.attachType()).contains(AttachType.SK_LOOKUP);
            int own = (int) (long) (Long) Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino");
            assertThat(link.info().detail())
                    .isEqualTo(new LinkDetail.NetNamespace(own, Optional.of(AttachType.SK_LOOKUP)));
        }
    }

    @Test
    @Requires(CGROUP2)
    void anAttachTypeThatIsNotKnownIsStated() throws IOException {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = hook("on_egress");
                Program same = Programs.byId(object.program("on_egress").id())) {
            Cgroup group = Cgroup.of(own.directory());
            assertThatThrownBy(() -> same.attach(group))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("forAttachType");
            same.forAttachType(AttachType.CGROUP_INET_EGRESS).attach(group).close();
            same.attach(group.withAttachType(AttachType.CGROUP_INET_EGRESS)).close();
        }
    }

    @Test
    @Requires({GCC, SDT_H, ASSEMBLER, UPROBE_MULTI})
    void oneOrManyUprobesAreAttachedByAnOpenedProgram() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = Bpf.load("links.bpf.o", loader -> Bpf.only(loader, target.pid()));
                Program one = Programs.byId(object.program("on_uprobe").id());
                Program many = Programs.byId(object.program("on_multi").id())) {
            try (Link first = one.attach(Uprobe.entry(target.path(), "poke"));
                    Link second = many.attach(UprobeMulti.entry(target.path(), "poke*"))) {
                target.command("poke 1");
                assertThat(Bpf.u64(object, "uprobe_hits")).isEqualTo(1);
                assertThat(Bpf.u64(object, "multi_hits")).isEqualTo(1);
            }
            assertThatThrownBy(() -> one.attach(UprobeMulti.entry(target.path(), "poke*")))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("EINVAL");
        }
    }
}
