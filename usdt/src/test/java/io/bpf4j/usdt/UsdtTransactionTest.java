package io.bpf4j.usdt;

import static io.bpf4j.usdt.ScriptedUsdt.addresses;
import static io.bpf4j.usdt.ScriptedUsdt.features;
import static io.bpf4j.usdt.ScriptedUsdt.object;
import static io.bpf4j.usdt.ScriptedUsdt.probe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An attachment happens or leaves nothing behind, whatever fails; seen from the system calls. */
class UsdtTransactionTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aFileIsOneLinkAndEqualArgumentsAreOneSpec() {
        try (BpfObject object = load(8)) {
            Usdt usdt = Usdt.of(object);
            UsdtProbe probe = probe("/a", "one", "8@%rax", "-4@$1", "8@%rax", "8@%rdi");
            try (UsdtLink link = usdt.attach(object.program("on"), List.of(probe))) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
                assertThat(link.siteCount()).isEqualTo(4);
                assertThat(link.specCount()).isEqualTo(3);
                assertThat(link.problems()).isEmpty();
                assertThat(usdt.specIdsInUse()).isEqualTo(3);
                LinkCommand.Details.UprobeMulti details = multiLinks().getFirst();
                assertThat(details.descriptor()).as("the open file").isPresent();
                assertThat(details.path()).isEmpty();
                assertThat(kernel.commands(FileCommand.OpenRegular.class))
                        .extracting(open -> open.path().toString())
                        .containsExactly("/a");
                assertThat(details.offsets()).containsExactly(0x1000, 0x1001, 0x1002, 0x1003);
                assertThat(details.cookies()).containsExactly(0, 1, 0, 2);
                assertThat(details.pid()).isZero();
            }
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    /** Programs compare it: the kernel's filter lets processes with the same memory through. */
    @Test
    void aCookieHasTheProcessAboveTheSpec() {
        try (BpfObject object = load(8)) {
            UsdtProbe probe = probe("/a", "one", "8@%rax", "-4@$1");
            AttachOptions one = AttachOptions.defaults().withPid(42);
            try (UsdtLink _ = Usdt.of(object).attach(object.program("on"), List.of(probe), one)) {
                assertThat(multiLinks().getFirst().cookies()).containsExactly(42L << 32, 42L << 32 | 1);
            }
        }
    }

    @Test
    void aFileThatWasReplacedSinceItWasReadIsRefused() {
        try (BpfObject object = load(8)) {
            Usdt usdt = Usdt.of(object);
            int before = kernel.open().size();
            kernel.answer(FileCommand.Identify.class, _ -> new FileIdentity(0, 1, 0, 0));
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(object.program("on"), List.of(probe("/a", "one", "8@%rax"))))
                    .withMessageContaining("attach p:one in /a: /a was replaced or written");
            assertThat(kernel.open()).hasSize(before);
            assertThat(kernel.commands(LinkCommand.Create.class)).isEmpty();
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void cookiesMakeSpecsDifferent() {
        try (BpfObject object = load(8)) {
            UsdtProbe one = probe("/a", "one", "8@%rax");
            UsdtProbe two = probe("/a", "two", "8@%rax");
            AttachOptions options = AttachOptions.defaults()
                    .withPid(42)
                    .withCookies(p -> p.name().equals("one") ? 1 : 2);
            try (UsdtLink link = Usdt.of(object).attach(object.program("on"), List.of(one, two), options)) {
                assertThat(link.specCount()).isEqualTo(2);
                assertThat(multiLinks()).hasSize(1);
                assertThat(multiLinks().getFirst().pid()).isEqualTo(42);
            }
        }
    }

    @Test
    void theProbesOfAProcessAreAttachedInThatProcess() {
        try (BpfObject object = load(8)) {
            Usdt usdt = Usdt.of(object);
            Program on = object.program("on");
            UsdtProbe probe = probe("/a", "one", "8@%rax");
            UsdtScan.File file = new UsdtScan.File(Path.of("/a"), "/a", List.of(probe), List.of(42), List.of());
            UsdtScan process = UsdtScan.of(Host.running(), 42, List.of(file));
            assertThat(process.toString()).startsWith("1 probes in 1 files of process 42");
            AttachOptions cookie = AttachOptions.defaults().withCookie(7);
            try (UsdtLink _ = usdt.attach(on, process);
                    UsdtLink _ = usdt.attach(on, process, cookie);
                    UsdtLink _ = usdt.attach(on, process, cookie.withPid(43));
                    UsdtLink _ = usdt.attach(on, process.probes(), cookie);
                    UsdtLink _ = usdt.attach(on, UsdtScan.of(List.of(file)), cookie)) {
                assertThat(multiLinks())
                        .extracting(LinkCommand.Details.UprobeMulti::pid)
                        .containsExactly(42, 42, 43, 0, 0);
            }
        }
    }

    @Test
    void aSecondFileThatFailsTakesTheFirstWithIt() {
        try (BpfObject object = load(8)) {
            Usdt usdt = Usdt.of(object);
            int before = kernel.open().size();
            kernel.failNth(2, LinkCommand.Create.class, Errno.EINVAL);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(
                            object.program("on"), List.of(probe("/a", "one", "8@%rax"), probe("/b", "one", "8@%rdi"))))
                    .withMessageContaining("attach p:one and 1 more probes in 2 files")
                    .withMessageContaining("EINVAL");
            assertThat(kernel.open()).hasSize(before);
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void aSiteThatFailsTakesThoseBeforeWithIt() {
        try (BpfObject object = load(8, Feature.UPROBE_MULTI_LINK)) {
            Usdt usdt = Usdt.of(object);
            int before = kernel.open().size();
            kernel.failNth(3, PerfCommand.Open.class, Errno.EMFILE);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(
                            object.program("on"), List.of(probe("/a", "one", "8@%rax", "8@%rbx", "8@%rcx", "8@%rdx"))))
                    .withMessageContaining("site 3 of 4 at 0x401002")
                    .withMessageContaining("EMFILE");
            assertThat(kernel.open()).hasSize(before);
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void withoutCookiesAddressesAreEntriesWhileAttached() {
        try (BpfObject object = load(8, Feature.BPF_COOKIE)) {
            Usdt usdt = Usdt.of(object);
            UsdtProbe probe = probe("/a", "one", "8@%rax", "8@%rbx");
            try (UsdtLink link = usdt.attach(object.program("on"), List.of(probe))) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.IP_MAP);
                assertThat(addresses(object)).hasSize(2);
                AttachOptions otherCookie = AttachOptions.defaults().withCookies(_ -> 7);
                assertThatExceptionOfType(UsdtException.class)
                        .isThrownBy(() -> usdt.attach(object.program("on"), List.of(probe), otherCookie))
                        .withMessageContaining("one spec only");
                assertThat(addresses(object)).hasSize(2);
                assertThat(usdt.specIdsInUse()).isEqualTo(2);
            }
            assertThat(addresses(object)).isEmpty();
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    /** A child of fork(2) has its parent's addresses, and what is traced in both has one entry. */
    @Test
    void withoutCookiesEqualSpecsShareAnAddressUntilTheLastIsDetached() {
        try (BpfObject object = load(8, Feature.BPF_COOKIE)) {
            Usdt usdt = Usdt.of(object);
            UsdtProbe probe = probe("/a", "one", "8@%rax", "8@%rbx");
            try (UsdtLink second = usdt.attach(object.program("on"), List.of(probe))) {
                try (UsdtLink first = usdt.attach(object.program("on"), List.of(probe))) {
                    assertThat(addresses(object)).hasSize(2);
                    assertThat(usdt.specIdsInUse()).isEqualTo(first.specCount());
                }
                assertThat(addresses(object)).hasSize(2);
                assertThat(usdt.specIdsInUse()).isEqualTo(second.specCount());
            }
            assertThat(addresses(object)).isEmpty();
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void withoutCookiesAFailedSiteLeavesNoEntry() {
        try (BpfObject object = load(8, Feature.BPF_COOKIE)) {
            Usdt usdt = Usdt.of(object);
            kernel.failNth(2, PerfCommand.Open.class, Errno.EINVAL);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(
                            object.program("on"), List.of(probe("/a", "one", "8@%rax", "8@%rbx", "8@%rcx"))));
            assertThat(addresses(object)).isEmpty();
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void aFullMapIsAnErrorAndTheObjectWorksOn() {
        try (BpfObject object = load(2)) {
            Usdt usdt = Usdt.of(object);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(
                            object.program("on"), List.of(probe("/a", "one", "8@%rax", "8@%rbx", "8@%rcx"))))
                    .withMessageContaining("'__bpf_usdt_specs' is full (E2BIG): of its 2 entries");
            assertThat(usdt.specIdsInUse()).isZero();
            usdt.attach(object.program("on"), List.of(probe("/a", "one", "8@%rax", "8@%rbx")))
                    .close();
        }
    }

    @Test
    void aMultiLinkThatIsNotSupportedAfterAllIsReplacedBySingleUprobes() {
        try (BpfObject object = load(8)) {
            kernel.fail(
                    c -> c instanceof LinkCommand.Create create
                            && create.details() instanceof LinkCommand.Details.UprobeMulti,
                    Errno.EOPNOTSUPP);
            try (UsdtLink link =
                    Usdt.of(object).attach(object.program("on"), List.of(probe("/a", "one", "8@%rax", "8@%rbx")))) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.COOKIE);
                assertThat(link.reasons().getFirst().message()).contains("the multi link failed", "EOPNOTSUPP");
                assertThat(kernel.commands(PerfCommand.Open.class)).hasSize(2);
                // The program and its copy for perf events.
                assertThat(kernel.commands(ProgCommand.Load.class)).hasSize(2);
            }
            kernel.fail(PerfCommand.Open.class, Errno.EACCES);
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(
                            () -> Usdt.of(object).attach(object.program("on"), List.of(probe("/a", "one", "8@%rax"))))
                    .withMessageContaining("EACCES")
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .anySatisfy(s -> assertThat(s).hasMessageContaining("EOPNOTSUPP")));
        }
    }

    @Test
    void whatCannotBeReadIsAProblemAndAFailureOnlyIfAskedFor() {
        try (BpfObject object = load(8)) {
            Usdt usdt = Usdt.of(object);
            List<UsdtProbe> probes = List.of(probe("/a", "one", "8f@%xmm0 8@%rax"));
            try (UsdtLink link = usdt.attach(object.program("on"), probes)) {
                assertThat(link.problems())
                        .singleElement()
                        .asString()
                        .contains("p:one in /a at 0x401000: argument 0", "%xmm0 is a vector register");
            }
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> usdt.attach(
                            object.program("on"),
                            probes,
                            AttachOptions.defaults().withStrict(true)))
                    .withMessageContaining("strict");
            assertThat(usdt.specIdsInUse()).isZero();
        }
    }

    @Test
    void anObjectWithoutSpecsGetsTheCookieItself() {
        ObjectSpec spec = object(List.of());
        try (BpfObject object = BpfLoader.of(spec)
                .host(ScriptedHost.of(kernel))
                .features(features())
                .load()) {
            AttachOptions options = AttachOptions.defaults().withCookie(7);
            try (UsdtLink link =
                    Usdt.of(object).attach(object.program("on"), List.of(probe("/a", "one", "8@%rax")), options)) {
                assertThat(link.specCount()).isZero();
                assertThat(multiLinks().getFirst().cookies()).containsExactly(7);
            }
        }
    }

    @Test
    void anUnknownLayoutIsRefused() {
        ObjectSpec spec = object(List.of(MapSpec.of("__bpf_usdt_specs", MapType.ARRAY, 4, 256, 8)));
        try (BpfObject object = BpfLoader.of(spec)
                .host(ScriptedHost.of(kernel))
                .features(features())
                .load()) {
            assertThatExceptionOfType(InvalidObjectException.class)
                    .isThrownBy(() -> Usdt.of(object))
                    .withMessageContaining("256 bytes");
        }
    }

    @Test
    void aProgramOfAnotherObjectIsRefused() {
        try (BpfObject one = load(8);
                BpfObject two = load(8)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Usdt.of(one).attach(two.program("on"), List.of(probe("/a", "one", ""))));
            assertThatExceptionOfType(UsdtException.class)
                    .isThrownBy(() -> Usdt.of(one).attach(one.program("on"), List.of()))
                    .withMessageContaining("no probes given");
        }
    }

    @Test
    void aLinkOutlivesItsObject() {
        BpfObject object = load(8, Feature.BPF_COOKIE);
        UsdtLink link = Usdt.of(object).attach(object.program("on"), List.of(probe("/a", "one", "8@%rax")));
        object.close();
        link.close();
        link.close();
        assertThat(link.isClosed()).isTrue();
    }

    private BpfObject load(int specs, Feature... missing) {
        return ScriptedUsdt.load(kernel, specs, missing);
    }

    private List<LinkCommand.Details.UprobeMulti> multiLinks() {
        return kernel.commands(LinkCommand.Create.class).stream()
                .map(LinkCommand.Create::details)
                .filter(LinkCommand.Details.UprobeMulti.class::isInstance)
                .map(LinkCommand.Details.UprobeMulti.class::cast)
                .toList();
    }
}
