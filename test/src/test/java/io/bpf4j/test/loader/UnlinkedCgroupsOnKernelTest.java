package io.bpf4j.test.loader;

import static io.bpf4j.loader.link.Cgroup.Sharing.EXCLUSIVE;
import static io.bpf4j.loader.link.Cgroup.Sharing.MULTI;
import static io.bpf4j.loader.link.Cgroup.Sharing.OVERRIDE;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.CGROUP_ORDER;
import static io.bpf4j.test.support.Requirement.LSM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Links;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms.Entry;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Loopback;
import io.bpf4j.test.support.Requires;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs of control groups that are attached without a link. */
@Requires({BPF, CGROUP2})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block
class UnlinkedCgroupsOnKernelTest {
    private static BpfObject hooks(String... programs) {
        return Bpf.load("hooks.bpf.o", loader -> {
            Arrays.stream(programs).forEach(name -> loader.program(name, p -> p.withAutoload(true)));
            return loader;
        });
    }

    private static Cgroup egress(Path directory) {
        return Cgroup.of(directory).withAttachType(AttachType.CGROUP_INET_EGRESS);
    }

    private static List<Integer> ids(Cgroup group) {
        return Links.attachedTo(group).programs().stream().map(Entry::programId).toList();
    }

    @Test
    void oneOfSeveral() throws Exception {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two", "on_egress")) {
            Cgroup group = egress(own.directory());
            Program one = object.program("egress_one");
            Program two = object.program("egress_two");
            Program third = object.program("on_egress");
            try (Link _ = one.attach(group.withoutLink(MULTI));
                    Link second = two.attach(group.withoutLink(MULTI))) {
                Loopback.sendUntil(() -> Bpf.u64(object, "order") == 12);
                assertThat(Links.attachedTo(group).flags()).isEqualTo(MULTI.flag());
                assertThat(ids(group)).containsExactly(one.id(), two.id());
                assertThatThrownBy(() -> one.attach(group.withoutLink(MULTI)))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("without a link");
                second.update(third);
                assertThat(ids(group)).containsExactly(one.id(), third.id());
                try (Link _ = two.attach(group.withoutLink(MULTI).replacing(third))) {
                    assertThat(ids(group)).containsExactly(one.id(), two.id());
                    second.close();
                    assertThat(ids(group)).as("not that of another").containsExactly(one.id(), two.id());
                    assertThat(Links.detach(group, third)).isFalse();
                    assertThat(Links.detach(group, two)).isTrue();
                    assertThat(ids(group)).containsExactly(one.id());
                }
            }
            assertThat(ids(group)).isEmpty();
        }
    }

    @Test
    void theOnlyOne() throws Exception {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two")) {
            Path below = Files.createDirectory(own.directory().resolve("below"));
            Program one = object.program("egress_one");
            Program two = object.program("egress_two");
            Cgroup group = egress(own.directory());
            try (Link first = one.attach(group.withoutLink(EXCLUSIVE))) {
                assertThat(Links.attachedTo(group).flags()).isZero();
                assertThatThrownBy(() -> two.attach(egress(below).withoutLink(MULTI)))
                        .isInstanceOf(AttachException.class)
                        .hasMessageContaining("another Sharing");
                try (Link _ = two.attach(group.withoutLink(EXCLUSIVE))) {
                    assertThat(ids(group)).as("every program replaces").containsExactly(two.id());
                    first.close();
                    assertThat(ids(group)).as("not that of another").containsExactly(two.id());
                }
                assertThat(ids(group)).isEmpty();
            }
            try (Link _ = one.attach(group.withoutLink(OVERRIDE));
                    Link _ = two.attach(egress(below).withoutLink(OVERRIDE))) {
                assertThat(Links.effectiveIn(egress(below)).programs())
                        .extracting(Entry::programId)
                        .contains(two.id())
                        .doesNotContain(one.id());
            }
            Files.delete(below);
        }
    }

    /** The kernel lists programs of security hooks only with their flags. */
    @Test
    @Requires(LSM)
    void aSecurityHook() throws Exception {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = Bpf.load("corpus/security.bpf.o", loader -> {
                    loader.spec()
                            .programs()
                            .forEach(p -> loader.program(
                                    p.name(),
                                    edited -> edited.withAutoload(p.name().equals("binds_in_group"))));
                    return loader;
                })) {
            Program program = object.program("binds_in_group");
            Cgroup group = Cgroup.of(own.directory()).withAttachType(AttachType.LSM_CGROUP);
            Link link = program.attach(group.withoutLink(MULTI));
            assertThat(ids(group)).containsExactly(program.id());
            link.close();
            assertThat(ids(group)).isEmpty();
        }
    }

    /** The kernel runs the programs of the lowest group first, except for those that ask to run before. */
    @Test
    @Requires(CGROUP_ORDER)
    void beforeTheGroupsBelow() throws Exception {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two")) {
            Path below = Files.createDirectory(own.directory().resolve("below"));
            Program one = object.program("egress_one");
            Program two = object.program("egress_two");
            Cgroup group = egress(own.directory());
            List<Integer> order = List.of(one.id(), two.id());
            for (Cgroup target :
                    List.of(group.withPreorder(), group.withoutLink(MULTI).withPreorder())) {
                try (Link _ = two.attach(egress(below));
                        Link _ = one.attach(target)) {
                    assertThat(Links.effectiveIn(egress(below)).programs())
                            .extracting(Entry::programId)
                            .containsSubsequence(order);
                }
                try (Link _ = two.attach(egress(below));
                        Link _ = one.attach(group)) {
                    assertThat(Links.effectiveIn(egress(below)).programs())
                            .extracting(Entry::programId)
                            .containsSubsequence(order.reversed());
                }
            }
            Files.delete(below);
        }
    }

    @Test
    void whatNeedsALinkIsRefused() throws Exception {
        try (OwnGroup own = OwnGroup.enter();
                BpfObject object = hooks("egress_one", "egress_two")) {
            Cgroup group = egress(own.directory());
            Program one = object.program("egress_one");
            Program two = object.program("egress_two");
            assertRefused(one, group.withoutLink(MULTI).withAnchor(Anchor.first()), "needs a link");
            assertRefused(one, group.replacing(two), "Cgroup.withoutLink");
            assertRefused(one, group.withoutLink(OVERRIDE).replacing(two), "only with Sharing.MULTI");
            assertRefused(one, group.withoutLink(MULTI).replacing(two), "not attached there");
            assertRefused(one, egress(Path.of("/tmp")).withoutLink(MULTI), "not a control group");
        }
    }

    private static void assertRefused(Program program, AttachTarget target, String message) {
        assertThatThrownBy(() -> program.attach(target))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining(message);
    }
}
