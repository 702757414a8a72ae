package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.MOUNT_NAMESPACES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.SLEEPABLE_UPROBE;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs whose section says file and probe: {@code SEC("usdt/PATH:PROVIDER:NAME")}, and the one that may sleep. */
@ParameterizedClass(name = "{0}")
@EnumSource(Strategy.class)
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, X86_64})
@ExtendWith(LeakCheck.class)
class UsdtSectionsTest extends UsdtSuite {
    UsdtSectionsTest(Strategy strategy) {
        super(strategy);
    }

    /** At fixed addresses, which the IP map needs where no process is named. */
    private BpfObject load(TargetProgram target, String section) {
        return strategy.loader("args12.bpf.o", target.pid())
                .program("args12", program -> program.withSection(section))
                .load();
    }

    private void fires(String kind) throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-no-pie");
                BpfObject object = load(target, kind + "/" + target.path() + ":target:sizes");
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            try (Link link = object.program("args12").attach()) {
                assertThat(link)
                        .isInstanceOfSatisfying(
                                UsdtLink.class,
                                usdt -> assertThat(usdt.strategy().name()).isEqualTo(strategy.name()));
                target.command("sizes");
            }
            assertThat(events(ring)).singleElement().satisfies(event -> {
                assertThat(event.argCount()).isEqualTo(12);
                assertThat(event.values().getFirst()).isEqualTo(-5L);
            });
            assertNothingLeft(object);
            target.command("sizes");
            assertThat(events(ring)).as("after it was closed").isEmpty();
        }
    }

    @Test
    void aSectionNamesFileAndProbe() throws IOException {
        fires("usdt");
    }

    @Test
    @Requires(SLEEPABLE_UPROBE)
    void aProgramThatMaySleep() throws IOException {
        fires("usdt.s");
    }

    @Test
    void attachingAllAttachesWhatSectionsName() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-no-pie");
                BpfObject object = load(target, "usdt/" + target.path() + ":target:sizes");
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            try (LinkGroup all = object.attachAll()) {
                assertThat(all.links()).hasSize(1);
                target.command("sizes");
            }
            assertThat(events(ring)).hasSize(1);
            assertNothingLeft(object);
        }
    }

    /** libbpf skips {@code SEC("usdt")}, too, and refuses what names a file only. */
    @Test
    void attachingAllLeavesWhatNamesNoProbe() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-no-pie")) {
            try (BpfObject object = load(target, "usdt");
                    LinkGroup all = object.attachAll()) {
                assertThat(all.links()).isEmpty();
                assertThat(object.program("args12").isAttachedBySection()).isFalse();
                assertThatThrownBy(() -> object.program("args12").attach())
                        .isInstanceOf(UsdtException.class)
                        .hasMessageContaining("SEC(\"usdt\") does not name a probe");
            }
            try (BpfObject object = load(target, "usdt/" + target.path())) {
                assertThatThrownBy(object::attachAll).isInstanceOf(UsdtException.class);
            }
        }
    }

    @Test
    void aSectionThatNamesNoProbeOfTheFile() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-no-pie");
                BpfObject object = load(target, "usdt/" + target.path() + ":target:no_such")) {
            assertThatThrownBy(() -> object.program("args12").attach())
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("no_such");
            assertNothingLeft(object);
        }
    }

    /** The same file by another name: the process has it in a mount namespace of its own. */
    @Test
    @Requires(MOUNT_NAMESPACES)
    void theFileHasAnotherNameInTheProcess() throws IOException {
        String elsewhere = TargetProgram.temporaryFolder().toString();
        try (TargetProgram target = TargetProgram.startElsewhere(elsewhere, "-O2", "-fPIE", "-pie");
                BpfObject object = load("args12.bpf.o", target.pid());
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            // In a chroot, the kernel shows the path from the root of that namespace.
            assertThat(Files.readSymbolicLink(Path.of("/proc/" + target.pid() + "/exe"))
                            .toString())
                    .endsWith(elsewhere + "/" + target.path().getFileName());
            try (UsdtLink link = attach(object, target.path(), "target:sizes", in(target))) {
                assertThat(link.siteCount()).isEqualTo(1);
                target.command("sizes");
            }
            assertThat(events(ring)).hasSize(1);
            assertNothingLeft(object);
        }
    }
}
