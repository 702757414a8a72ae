package io.bpf4j.usdt;

import static io.bpf4j.usdt.ScriptedUsdt.addresses;
import static io.bpf4j.usdt.ScriptedUsdt.probe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.FaultInjection;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each command of an attachment, and of its end, fails in turn: nothing is left, and the object works on. */
class UsdtFaultsTest {
    private static final int MORE_THAN_THERE_ARE = 200;

    private final ScriptedKernel kernel = new ScriptedKernel();

    private BpfObject load(AttachStrategy strategy) {
        return ScriptedUsdt.load(kernel, 16, missing(strategy));
    }

    private static Feature[] missing(AttachStrategy strategy) {
        return switch (strategy) {
            case MULTI -> new Feature[0];
            case COOKIE -> new Feature[] {Feature.UPROBE_MULTI_LINK};
            case IP_MAP -> new Feature[] {Feature.UPROBE_MULTI_LINK, Feature.BPF_COOKIE};
        };
    }

    private static List<UsdtProbe> probes() {
        return List.of(
                probe("/a", "one", "8@%rax", "8@%rbx", "-4@$1"),
                ScriptedUsdt.probeAt(0x2000, "/b", "two", "8@%rdi", "8@%rax"));
    }

    private static UsdtLink attach(BpfObject object, AttachOptions options) {
        return Usdt.of(object).attach(object.program("on"), probes(), options);
    }

    private void assertNothingLeft(BpfObject object, int before) {
        assertThat(Usdt.of(object).specIdsInUse()).isZero();
        assertThat(addresses(object)).isEmpty();
        assertThat(kernel.open()).hasSize(before);
    }

    private static boolean undoes(Command<?> command) {
        return command instanceof FileCommand.Close
                || (command instanceof MapCommand.Element element && element.op() == MapCommand.Op.DELETE);
    }

    @ParameterizedTest
    @EnumSource
    void whicheverCommandFailsNothingIsLeft(AttachStrategy strategy) {
        try (BpfObject object = load(strategy)) {
            attach(object, AttachOptions.defaults()).close(); // what is done once, is done
            int before = kernel.open().size();
            int failures = 0;
            for (int step = 1; step < MORE_THAN_THERE_ARE; step++) {
                int[] left = {step};
                boolean[] attaching = {true};
                kernel.fail(command -> attaching[0] && !undoes(command) && --left[0] == 0, Errno.EMFILE);
                try (UsdtLink link = attach(object, AttachOptions.defaults())) {
                    assertThat(link.strategy()).isEqualTo(strategy);
                } catch (BpfException e) {
                    failures++;
                    assertThat(e).hasMessageContaining("attach p:one and 1 more probes in 2 files");
                }
                attaching[0] = false;
                assertNothingLeft(object, before);
                if (left[0] > 0) {
                    break;
                }
            }
            assertThat(failures).isGreaterThan(4);
        }
        assertThat(kernel.open()).isEmpty();
    }

    /**
     * Of what one step of the end leaves, the others are given back nevertheless, and the first failure is reported.
     */
    @ParameterizedTest
    @EnumSource
    void whereDetachingFailsTheRestIsGivenBack(AttachStrategy strategy) {
        try (BpfObject object = load(strategy)) {
            int before = kernel.open().size();
            UsdtLink link = attach(object, AttachOptions.defaults());
            kernel.clearCommands();
            kernel.failNth(1, FileCommand.Close.class, Errno.EIO);
            assertThatExceptionOfType(BpfException.class)
                    .isThrownBy(link::close)
                    .withMessageContaining("EIO");
            assertThat(kernel.open()).as("Linux closes also if close(2) fails").hasSize(before);
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
            assertThat(addresses(object)).isEmpty();
            link.close();
            attach(object, AttachOptions.defaults()).close();
            assertNothingLeft(object, before);
        }
    }

    /**
     * The whole way, from the load to the last close: each call fails in turn, with each error of its manual. A kernel
     * that refuses a multi link after all is attached to by single uprobes, and the link says so.
     */
    @ParameterizedTest
    @EnumSource
    void whicheverCallFailsWithWhicheverError(AttachStrategy strategy) {
        FaultInjection faults = new FaultInjection("attach by " + strategy, scripted -> {
                    try (BpfObject object = ScriptedUsdt.load(scripted, 16, missing(strategy))) {
                        try (UsdtLink link = Usdt.of(object).attach(object.program("on"), probes())) {
                            return link.strategy() + ", " + link.siteCount() + " sites, " + link.specCount()
                                    + " specs, " + link.problems() + " "
                                    + link.reasons().stream()
                                            .map(reason -> reason.message().contains("multi link failed"))
                                            .toList();
                        } finally {
                            assertThat(Usdt.of(object).specIdsInUse()).isZero();
                        }
                    }
                })
                .naming("test.bpf.o", "p:one and 1 more probes in 2 files", "\"on\"", "on to ")
                .tolerating("loads again, with a log", ProgCommand.Load.class::isInstance);
        if (strategy == AttachStrategy.MULTI) {
            Errno[] unsupported = {Errno.E2BIG, Errno.ENOSYS, Errno.EOPNOTSUPP};
            faults.seeing(
                    "COOKIE, 5 sites, 4 specs, [] [true]",
                    "attaches to single sites",
                    call -> call instanceof LinkCommand.Create,
                    unsupported);
        }
        FaultInjection.Figures figures = faults.run();
        assertThat(figures.errors()).isGreaterThan(100);
        System.out.println("faults of attachments by " + strategy + ": " + figures);
    }

    /** The entry of an address that the kernel did not remove is nobody's, and does not keep others from attaching. */
    @Test
    void anEntryThatStaysIsOverwritten() {
        try (BpfObject object = load(AttachStrategy.IP_MAP)) {
            UsdtLink link = attach(object, AttachOptions.defaults());
            kernel.failNth(1, MapCommand.Element.class, Errno.EBUSY);
            assertThatExceptionOfType(BpfException.class)
                    .isThrownBy(link::close)
                    .withMessageContaining("EBUSY");
            assertThat(addresses(object)).as("left by the kernel").hasSize(1);
            attach(object, AttachOptions.defaults()).close();
            assertThat(addresses(object)).isEmpty();
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
        }
    }

    /** What an embedder's function throws is not always an exception. */
    @ParameterizedTest
    @EnumSource
    void anErrorOfTheCallerUndoesToo(AttachStrategy strategy) {
        try (BpfObject object = load(strategy)) {
            int before = kernel.open().size();
            AttachOptions options = AttachOptions.defaults().withCookies(probe -> {
                if (probe.name().equals("two")) {
                    throw new AssertionError("not this one");
                }
                return 1;
            });
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> attach(object, options))
                    .withMessage("not this one");
            assertThat(kernel.commands(LinkCommand.Create.class).size()
                            + kernel.commands(PerfCommand.Open.class).size())
                    .as("the first file was attached to")
                    .isPositive();
            assertNothingLeft(object, before);
        }
    }
}
