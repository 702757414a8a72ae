package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Failures in the midst of attaching: what was done before is undone, semaphores included, and the same object then
 * attaches what can be attached.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Strategy.class)
@Tag("usdt")
@Requires({BPF, GCC, SDT_H, ASSEMBLER})
@ExtendWith(LeakCheck.class)
class UsdtFailuresTest extends UsdtSuite {
    private static final int STRINGS = 20;

    /** PID_MAX_LIMIT of include/linux/threads.h: the numbers of processes are below it. */
    private static final int NO_PROCESS = 0x400000;

    UsdtFailuresTest(Strategy strategy) {
        super(strategy);
    }

    private static UsdtProbe withSite(UsdtProbe probe, UsdtSite site) {
        List<UsdtSite> sites = new ArrayList<>(probe.sites());
        sites.add(site);
        return UsdtProbe.of(probe.binary(), probe.provider(), probe.name(), sites);
    }

    private void assertWorks(BpfObject object, TargetProgram target) throws IOException {
        assertNothingLeft(object);
        assertThat(target.command("semaphores")).isEqualTo("0 0");
        long before = total(object);
        assertThat(target.command("guarded")).isEqualTo("0");
        try (UsdtLink link = attach(object, target.path(), "target:guarded", in(target))) {
            assertThat(link.specCount()).isEqualTo(1);
            assertThat(target.command("guarded")).isEqualTo("1");
            assertThat(total(object)).isEqualTo(before + 1);
        }
        assertNothingLeft(object);
        assertThat(target.command("semaphores")).isEqualTo("0 0");
    }

    @Test
    void aFileThatTheProcessHasNotMappedIsSaidAndFiresOnceItIs() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            Path library = library();
            if (strategy == Strategy.IP_MAP) {
                // The addresses must be known at once.
                assertThatThrownBy(() -> attach(object, library, "library:called", in(target)))
                        .isInstanceOf(UsdtException.class)
                        .hasMessageContaining("has not mapped");
                assertNothingLeft(object);
                return;
            }
            try (UsdtLink link = attach(object, library, "library:called", in(target))) {
                assertThat(link.problems())
                        .containsExactly(new Diagnostic(
                                Diagnostic.Kind.NOT_MAPPED,
                                library.toString(),
                                "process " + target.pid() + " has not mapped " + library
                                        + ": probes in this file fire only if the process maps it later"));
                assertThat(target.command("load " + library)).isEqualTo("ok");
                target.command("library 3");
                assertThat(total(object)).isPositive();
            }
            try (UsdtLink link = attach(object, library, "library:called", in(target))) {
                assertThat(link.problems()).isEmpty();
            }
        }
    }

    /** Overlay file systems may report another inode in maps than in stat; the name still tells. */
    @Test
    void aProcessThatHasMappedTheFileIsNotSuspected() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            Path root = Path.of("/proc/" + target.pid() + "/root");
            Path seenFromOutside = Path.of(root + target.path().toString());
            for (Path path : List.of(target.path(), seenFromOutside)) {
                try (UsdtLink link = attach(object, path, "target:guarded", in(target))) {
                    assertThat(link.problems()).isEmpty();
                }
            }
        }
    }

    @Test
    void aSiteBeyondTheEndOfTheFileTakesTheGoodOnesWithIt() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            UsdtProbe guarded = UsdtScan.ofFile(target.path())
                    .matching("target:guarded")
                    .probes()
                    .getFirst();
            UsdtProbe text = UsdtScan.ofFile(target.path())
                    .matching("target:text")
                    .probes()
                    .getFirst();
            UsdtSite good = guarded.sites().getFirst();
            UsdtSite bad = UsdtSite.at(good.address() + 0x10000000, 0x10000000);
            List<UsdtProbe> probes = List.of(text, withSite(guarded, bad));
            assertThatThrownBy(() -> attachAll(object, probes, in(target)))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("target:text and 1 more probes in " + target.path());
            assertWorks(object, target);
        }
    }

    /** Another failure than the one above: the kernel finds out when it looks at the instruction in the process. */
    @Test
    void anInstructionThatTheKernelRefusesTakesTheGoodOnesWithIt() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            Path library = loadLibrary(target, "-DREFUSED");
            List<UsdtProbe> probes =
                    UsdtScan.ofFile(library).matching("library:*").probes();
            assertThat(probes).extracting(UsdtProbe::name).containsExactly("called", "watched", "refused");
            assertThatThrownBy(() -> attachAll(object, probes, in(target)))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("library:called and 2 more probes in " + library);
            assertThat(target.command("library 1"))
                    .as("semaphores of the library")
                    .isEqualTo("0");
            assertThat(total(object)).isZero();
            try (UsdtLink link = attachAll(object, probes.subList(0, 2), in(target))) {
                assertThat(link.siteCount()).isEqualTo(3);
                assertThat(target.command("library 1")).isEqualTo("3");
                assertThat(total(object)).isEqualTo(2);
            }
            assertWorks(object, target);
        }
    }

    @Test
    void aFullSpecMapIsNamedAndTheObjectWorksOn() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-DROUNDS=1");
                BpfObject object = strategy.loader("counters.bpf.o", target.pid())
                        .map("__bpf_usdt_specs", map -> map.withMaxEntries(STRINGS - 1))
                        .load()) {
            assertThatThrownBy(() -> attach(object, target.path(), "target:many", in(target)))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("map '__bpf_usdt_specs' is full (E2BIG): of its " + (STRINGS - 1))
                    .hasMessageContaining("Enlarge it");
            assertThat(total(object)).isZero();
            assertWorks(object, target);
        }
    }

    /** Only one strategy needs that map; the others attach as if it were not there. */
    @Test
    void aFullIpMapIsNamedAndTheObjectWorksOn() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2", "-DROUNDS=1");
                BpfObject object = strategy.loader("counters.bpf.o", target.pid())
                        .map(IP_MAP, map -> map.withMaxEntries(4))
                        .load()) {
            if (strategy == Strategy.IP_MAP) {
                assertThatThrownBy(() -> attach(object, target.path(), "target:many", in(target)))
                        .isInstanceOf(UsdtException.class)
                        .hasMessageContaining("site 5 of " + STRINGS)
                        .hasMessageContaining("map '" + IP_MAP + "' is full: it has 4 entries")
                        .hasMessageContaining("Enlarge it");
                target.command("many 1");
                assertThat(total(object)).isZero();
            } else {
                try (UsdtLink link = attach(object, target.path(), "target:many", in(target))) {
                    assertThat(link.siteCount()).isEqualTo(STRINGS);
                    target.command("many 1");
                    assertThat(total(object)).isEqualTo(STRINGS);
                }
            }
            assertWorks(object, target);
        }
    }

    @Test
    void aClosedObjectIsRefused() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2")) {
            BpfObject object = load("counters.bpf.o", target.pid());
            Usdt usdt = Usdt.of(object);
            List<UsdtProbe> probes =
                    UsdtScan.ofFile(target.path()).matching("target:guarded").probes();
            var program = object.program("count");
            object.close();
            assertThatThrownBy(() -> usdt.attach(program, probes, in(target)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThat(usdt.specIdsInUse()).isZero();
            assertThat(target.command("semaphores")).isEqualTo("0 0");
        }
    }

    @Test
    void aNameThatDoesNotExistGetsTheOneThatWasMeant() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            assertThatThrownBy(() -> Usdt.of(object)
                            .attach(
                                    object.program("count"),
                                    UsdtScan.ofFile(target.path()).matching("target:gaurded"),
                                    in(target)))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("target:guarded");
            assertWorks(object, target);
        }
    }

    @Test
    void aProcessThatIsGoneIsSaid() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid())) {
            AttachOptions gone = AttachOptions.defaults().withPid(NO_PROCESS);
            assertThatThrownBy(() -> attach(object, target.path(), "target:guarded", gone))
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("target:guarded")
                    .hasMessageMatching("(?s).*(process|no such).*");
            assertWorks(object, target);
        }
    }

    /** An address has one entry in the IP map, so there the second is refused; the first is not disturbed. */
    @Test
    @SuppressWarnings("try") // closed in the middle, to see what comes after
    void aProgramAttachedTwiceFiresTwiceOrIsRefused() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2");
                BpfObject object = load("counters.bpf.o", target.pid());
                UsdtLink first = attach(
                        object, target.path(), "target:guarded", in(target).withCookie(1))) {
            AttachOptions second = in(target).withCookie(2);
            int sum = 1;
            if (strategy == Strategy.IP_MAP) {
                assertThatThrownBy(() -> attach(object, target.path(), "target:guarded", second))
                        .isInstanceOf(UsdtException.class)
                        .hasMessageContaining("already attached at this address");
            } else {
                try (UsdtLink link = attach(object, target.path(), "target:guarded", second)) {
                    assertThat(link.specCount()).isEqualTo(1);
                    // The kernel counts the places that are watched, not who watches them.
                    assertThat(target.command("semaphores")).isEqualTo("1 0");
                    target.command("guarded");
                    assertThat(total(object)).isEqualTo(2);
                    assertThat(count(object, 2)).isEqualTo(1);
                    sum += 1;
                }
            }
            assertThat(target.command("semaphores")).isEqualTo("1 0");
            target.command("guarded");
            assertThat(count(object, 1)).isEqualTo(sum);
            assertThat(Usdt.of(object).specIdsInUse()).isEqualTo(first.specCount());
            first.close();
            assertWorks(object, target);
        }
    }

    private static long count(BpfObject object, int cookie) {
        return Bpf.element(object.map("counts"), cookie).getLong();
    }
}
