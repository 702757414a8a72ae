package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.internal.linux.Jit;
import io.bpf4j.sys.internal.linux.Kallsyms;
import io.bpf4j.sys.internal.linux.KernelConfig;
import io.bpf4j.sys.internal.linux.PerfSources;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.KernelVersion;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a machine is read, and what of it is kept. */
class HostTest {
    @TempDir
    Path root;

    private final ScriptedKernel kernel = new ScriptedKernel();

    @Test
    void eachFileIsReadBelowProcOrSys() throws IOException {
        Host host = ScriptedHost.of(kernel, root);
        ScriptedHost.write(root, "proc/sys/kernel/osrelease", "5.4.3-test\n");
        ScriptedHost.write(root, "proc/sys/net/core/bpf_jit_enable", "1\n");
        ScriptedHost.write(root, "proc/config.gz", "no gzip");
        ScriptedHost.write(root, "sys/devices/system/cpu/possible", "0-1,4\n");
        ScriptedHost.sources(root.resolve("sys/bus/event_source/devices"));
        assertThat(host.version()).isEqualTo(new KernelVersion(5, 4, 3));
        assertThat(Jit.of(host)).isEqualTo(Jit.ON);
        assertThat(CpuSet.possible(host).count()).isEqualTo(3);
        assertThat(PerfSources.of(host).type(PerfSources.UPROBE)).hasValue(9);
        assertThat(Kallsyms.of(host).file()).isEqualTo(root.resolve("proc/kallsyms"));
        assertThat(host.memory()).isEmpty();
        ScriptedHost.write(root, "proc/meminfo", "MemTotal:       24561076 kB\nMemFree:         1 kB\n");
        assertThat(host.memory()).hasValue(24561076L * 1024);
        assertThat(host.process(42)).isEqualTo(root.resolve("proc/42"));
        assertThatThrownBy(() -> KernelConfig.of(host)).isInstanceOf(IOException.class);
    }

    @Test
    void procAndSysMayBeElsewhere() {
        ScriptedHost.write(root, "host/proc/sys/kernel/osrelease", "6.1.7\n");
        ScriptedHost.write(root, "host/sys/devices/system/cpu/possible", "0-63\n");
        Host host =
                new ScriptedKernel().host().withProc(root.resolve("host/proc")).withSys(root.resolve("host/sys"));
        assertThat(host.version()).isEqualTo(new KernelVersion(6, 1, 7));
        assertThat(CpuSet.possible(host).count()).isEqualTo(64);
        Host running = Host.running().withProc(root.resolve("host/proc"));
        assertThat(running.version()).isEqualTo(new KernelVersion(6, 1, 7));
        assertThat(running.sys()).isEqualTo(Host.running().sys());
    }

    @Test
    void typesThatWereFoundAreKeptAndMissingOnesLookedForAgain() throws IOException {
        Host host = ScriptedHost.of(kernel, root);
        assertThat(KernelBtf.of(host).find()).isEmpty();
        assertThatThrownBy(() -> KernelBtf.of(host).types())
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining(root.resolve("sys/kernel/btf/vmlinux").toString());
        BtfBuilder types = BtfBuilder.create();
        types.integer("int", 4, 0);
        Path shown = Files.createDirectories(root.resolve("sys/kernel/btf")).resolve("vmlinux");
        Files.write(shown, types.toBytes(ByteOrder.nativeOrder()));
        Btf found = KernelBtf.of(host).find().orElseThrow();
        Files.delete(shown);
        assertThat(KernelBtf.of(host).types()).isSameAs(found);
    }

    @Test
    void featuresAreOfTheMachineAndTheWayToItsKernel() {
        Host host = kernel.host();
        ScriptedKernel forbidden = new ScriptedKernel();
        forbidden.fail(MapCommand.Create.class, Errno.EPERM);
        assertThat(Features.of(host)).isSameAs(Features.of(host));
        assertThat(Features.of(host).has(Feature.RING_BUFFER)).isTrue();
        assertThat(Features.of(host.with(Kernel.class, forbidden)).has(Feature.RING_BUFFER))
                .isFalse();
    }
}
