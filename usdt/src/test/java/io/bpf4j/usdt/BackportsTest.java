package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.ByteView;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Enterprise distributions keep the number of an old kernel and bring to it what newer ones have; others take away what
 * the number promises. A kernel that answers as one of these is used as it answers, whatever it is called.
 */
class BackportsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @TempDir
    private Path root;

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private Host host(String release) {
        ScriptedHost.write(root, "proc/sys/kernel/osrelease", release + "\n");
        ScriptedHost.write(root, "sys/devices/system/cpu/possible", "0-3\n");
        ScriptedHost.write(root, "sys/devices/system/cpu/online", "0-3\n");
        ScriptedHost.sources(root.resolve("sys/bus/event_source/devices"));
        return ScriptedHost.of(kernel, root);
    }

    private static boolean isProbe(LinkCommand.Create create) {
        return create.description().equals("probe");
    }

    /** As kernels with such links do: no link for a directory, and none for a process -1. */
    private void hasMultiLinks() {
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && isProbe(create)
                        && create.details() instanceof LinkCommand.Details.UprobeMulti uprobes
                        && uprobes.pid() < 0,
                Errno.EINVAL);
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && isProbe(create)
                        && create.details() instanceof LinkCommand.Details.UprobeMulti uprobes
                        && uprobes.pid() == 0,
                Errno.EBADF);
    }

    private void hasNoMultiLinks() {
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && create.details() instanceof LinkCommand.Details.UprobeMulti,
                Errno.EINVAL);
    }

    private void hasPerfLinks() {
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && isProbe(create)
                        && create.details() instanceof LinkCommand.Details.PerfEvent,
                Errno.EBADF);
    }

    private void hasNoCookies() {
        int helper = Helper.named("bpf_get_attach_cookie").number();
        kernel.fail(command -> command instanceof ProgCommand.Load load && calls(load, helper), Errno.EINVAL);
        kernel.fail(
                command -> command instanceof LinkCommand.Create create
                        && create.details() instanceof LinkCommand.Details.PerfEvent,
                Errno.EINVAL);
    }

    private static boolean calls(ProgCommand.Load load, int helper) {
        return Instructions.decode(ByteView.of("program", load.instructions(), ByteOrder.nativeOrder())).stream()
                .anyMatch((Instruction each) -> each.opcode() == 0x85 && each.imm() == helper);
    }

    private AttachStrategy strategy(String release) {
        try (BpfObject object = BpfLoader.of(ScriptedUsdt.object(List.of(
                                MapSpec.of("__bpf_usdt_specs", MapType.ARRAY, 4, 208, 8),
                                MapSpec.of("__bpf_usdt_ip_to_spec_id", MapType.HASH, 8, 4, 32))))
                        .host(host(release))
                        .load();
                UsdtLink link = Usdt.of(object)
                        .attach(object.program("on"), List.of(ScriptedUsdt.probe("/a", "one", "8@%rax", "8@%rbx")))) {
            assertThat(link.siteCount()).isEqualTo(2);
            return link.strategy();
        }
    }

    @Test
    void anOldNumberWithMultiLinks() {
        hasMultiLinks();
        assertThat(strategy("5.14.0-503.11.1.el9_5.x86_64")).isEqualTo(AttachStrategy.MULTI);
        assertThat(kernel.commands(PerfCommand.Open.class)).isEmpty();
    }

    @Test
    void anOlderNumberWithCookies() {
        hasNoMultiLinks();
        hasPerfLinks();
        assertThat(strategy("4.18.0-553.el8_10.x86_64")).isEqualTo(AttachStrategy.COOKIE);
    }

    @Test
    void theSameNumberWithoutThem() {
        hasNoMultiLinks();
        hasNoCookies();
        assertThat(strategy("4.18.0-80.el8.x86_64")).isEqualTo(AttachStrategy.IP_MAP);
    }

    @Test
    void aNewNumberWithoutWhatItPromises() {
        hasNoMultiLinks();
        hasNoCookies();
        assertThat(strategy("6.12.0-built.without")).isEqualTo(AttachStrategy.IP_MAP);
    }
}
