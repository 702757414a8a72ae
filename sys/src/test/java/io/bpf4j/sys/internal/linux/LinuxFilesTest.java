package io.bpf4j.sys.internal.linux;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import io.bpf4j.sys.kernel.KernelVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers of /proc and /sys, each with files made for it. */
class LinuxFilesTest {
    @TempDir
    Path root;

    @BeforeEach
    void release() throws IOException {
        write("proc/sys/kernel/osrelease", "6.1\n");
    }

    @Test
    void versionOfUbuntuDebianAndTheRest() throws IOException {
        write("a/proc/sys/kernel/osrelease", "6.18.44-fc\n");
        assertThat(Host.at(root.resolve("a")).version()).isEqualTo(new KernelVersion(6, 18, 44));
        write("b/proc/sys/kernel/osrelease", "4.19.0-26-amd64\n");
        write("b/proc/sys/kernel/version", "#1 SMP Debian 4.19.304-1 (2024-01-09)\n");
        assertThat(Host.at(root.resolve("b")).version()).isEqualTo(new KernelVersion(4, 19, 304));
        write("c/proc/sys/kernel/osrelease", "5.4.0-12-generic\n");
        write("c/proc/version_signature", "Ubuntu 5.4.0-12.15-generic 5.4.8\n");
        assertThat(Host.at(root.resolve("c")).version()).isEqualTo(new KernelVersion(5, 4, 8));
    }

    @Test
    void configFromProcComesFirstAndIsUnpacked() throws IOException {
        write("boot/config-6.1", "CONFIG_HZ=100\n");
        assertThat(KernelConfig.of(Host.at(root)).orElseThrow().value("CONFIG_HZ"))
                .contains("100");
        Files.createDirectories(root.resolve("proc"));
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(root.resolve("proc/config.gz")))) {
            out.write("""
                    # CONFIG_KPROBES is not set
                    CONFIG_BPF=y
                    CONFIG_HZ=250
                    CONFIG_DEFAULT_HOSTNAME="(none)"
                    """.getBytes(UTF_8));
        }
        KernelConfig config = KernelConfig.of(Host.at(root)).orElseThrow();
        assertThat(config.source()).endsWith("proc/config.gz");
        assertThat(config.value("CONFIG_HZ")).contains("250");
        assertThat(config.value("CONFIG_BPF")).contains("y");
        assertThat(config.value("CONFIG_DEFAULT_HOSTNAME")).contains("\"(none)\"");
        assertThat(config.value("CONFIG_KPROBES")).isEmpty();
    }

    @Test
    void aConfigMayBePackedWithoutSayingSo() throws IOException {
        Files.createDirectories(root.resolve("boot"));
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(root.resolve("boot/config-6.1")))) {
            out.write("CONFIG_HZ=300\nCONFIG_HZ=100\n".getBytes(UTF_8));
        }
        assertThat(KernelConfig.of(Host.at(root)).orElseThrow().value("CONFIG_HZ"))
                .contains("300");
        write("empty/boot/config-6.1", "");
        write("empty/proc/sys/kernel/osrelease", "6.1\n");
        assertThat(KernelConfig.of(Host.at(root.resolve("empty"))).orElseThrow().value("CONFIG_HZ"))
                .isEmpty();
    }

    @Test
    void noConfigIsAnAnswer() throws IOException {
        assertThat(KernelConfig.of(Host.at(root))).isEmpty();
    }

    @Test
    void aBrokenConfigIsAnError() throws IOException {
        write("proc/config.gz", "this is not gzip");
        assertThatThrownBy(() -> KernelConfig.of(Host.at(root))).isInstanceOf(IOException.class);
    }

    @Test
    void cpuListsHaveRangesAndHoles() {
        assertThat(CpuSet.parse("0-3,8,10-11\n").numbers()).containsExactly(0, 1, 2, 3, 8, 10, 11);
        assertThat(CpuSet.parse("0").count()).isEqualTo(1);
        assertThat(CpuSet.parse("0-8191").count()).isEqualTo(8192);
        assertThat(CpuSet.parse("").count()).isZero();
    }

    /** The kernel writes a value for each possible CPU into a caller's memory: a guess would be too small. */
    @Test
    void unknownCpusAreNotGuessed() throws IOException {
        Path file = root.resolve("possible");
        assertThatThrownBy(() -> CpuSet.read(file))
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("the CPUs of this machine are unknown: " + file + ": no such file");
        for (String content : new String[] {"", "\n", "many"}) {
            Files.writeString(file, content);
            assertThatThrownBy(() -> CpuSet.read(file)).isInstanceOf(BpfException.class);
        }
        Files.writeString(file, "0-3\n");
        assertThat(CpuSet.read(file).count()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3-1", "a", "0-", "-3", "0,,1", "0-4294967295", "99999999999"})
    void whatIsNoCpuListIsRefused(String list) {
        assertThatThrownBy(() -> CpuSet.parse(list)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void perfSourcesTellTypesAndBits() throws IOException {
        write("uprobe/type", "8\n");
        write("uprobe/format/retprobe", "config:0\n");
        write("uprobe/format/ref_ctr_offset", "config:32-63\n");
        PerfSources sources = new PerfSources(root);
        assertThat(sources.type(PerfSources.UPROBE)).hasValue(8);
        assertThat(sources.firstBit(PerfSources.UPROBE, "retprobe")).hasValue(0);
        assertThat(sources.firstBit(PerfSources.UPROBE, "ref_ctr_offset")).hasValue(32);
        assertThat(sources.type(PerfSources.KPROBE)).isEmpty();
        assertThat(sources.firstBit(PerfSources.KPROBE, "retprobe")).isEmpty();
    }

    @Test
    void perfSourcesKeepWhatTheyFoundAndNotWhatTheyMissed() throws IOException {
        PerfSources sources = new PerfSources(root);
        assertThat(sources.type(PerfSources.UPROBE)).isEmpty();
        write("uprobe/type", "8\n");
        assertThat(sources.type(PerfSources.UPROBE)).hasValue(8);
        Files.delete(root.resolve("uprobe/type"));
        assertThat(sources.type(PerfSources.UPROBE)).hasValue(8);
    }

    /** A kernel that has something is not one without, only because it could not be asked. */
    @Test
    void aSourceThatCannotBeReadIsNotMissing() throws IOException {
        Files.createDirectories(root.resolve("uprobe/type"));
        assertThatThrownBy(() -> new PerfSources(root).type(PerfSources.UPROBE))
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("can't read " + root.resolve("uprobe/type"));
    }

    @Test
    void symbolsOfTheKernelAndOfModules() throws IOException {
        write("kallsyms", """
                ffffffff81000000 T _stext
                ffffffff81001000 T __x64_sys_bpf
                ffffffffc0a04000 t helper\t[some_module]
                ffffffffc0a05000 t helper\t[another]
                ffffffffc0a05000 t helper\t[the_same]
                0000000000000000 A hidden
                ffffffff82000000 d fops.llvm.6089712345
                ffffffff82001000 t function.llvm.42
                """);
        Kallsyms symbols = new Kallsyms(root.resolve("kallsyms"));
        assertThat(symbols.addresses(Set.of("__x64_sys_bpf", "helper", "hidden", "absent", "fops", "function")))
                .isEqualTo(Map.of(
                        "__x64_sys_bpf",
                        List.of(0xffffffff81001000L),
                        "helper",
                        List.of(0xffffffffc0a04000L, 0xffffffffc0a05000L),
                        "hidden",
                        List.of(0L),
                        "fops",
                        List.of(0xffffffff82000000L)));
    }

    @Test
    void brokenSymbolsAreAnError() throws IOException {
        write("kallsyms", "zzz T x\n");
        assertThatThrownBy(() -> new Kallsyms(root.resolve("kallsyms")).addresses(Set.of("x")))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> new Kallsyms(root.resolve("none")).addresses(Set.of("x")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void aNameForgesNoFieldOfTheStatus() throws IOException {
        write("proc/7/status", """
                Name:\tx\rUid:\t0\t0\t0\t0
                State:\tS (sleeping)
                Uid:\t1000\t4294967294\t1002\t1003
                NSpid:\t4711\t7
                Odd:\t1 x 99999999999
                """);
        StatusFile status = StatusFile.read(root.resolve("proc/7"));
        assertThat(status.field("State")).isEqualTo("S (sleeping)");
        assertThat(status.number("Uid", 0)).contains(1000);
        assertThat(status.number("Uid", 1)).as("4294967294, an unsigned number").contains(-2);
        assertThat(status.number("Uid", 4)).isEmpty();
        assertThat(status.lastNumber("NSpid")).contains(7);
        assertThat(status.number("Odd", 1)).isEmpty();
        assertThat(status.number("Odd", 2)).isEmpty();
        assertThat(status.lastNumber("None")).isEmpty();
        assertThat(status.field("None")).isEmpty();
    }

    @Test
    void theStatusOfAProcessThatHasEndedIsEmpty() {
        assertThat(StatusFile.readIfRunning(root.resolve("proc/8")).field("State"))
                .isEmpty();
        assertThatThrownBy(() -> StatusFile.read(root.resolve("proc/8"))).isInstanceOf(IOException.class);
    }

    @Test
    void pageSizeFromTheAuxiliaryVector() throws IOException {
        ByteBuffer auxv = ByteBuffer.allocate(48).order(ByteOrder.nativeOrder());
        auxv.putLong(16)
                .putLong(0xbfebfbff)
                .putLong(6)
                .putLong(65536)
                .putLong(0)
                .putLong(0);
        write("proc/self/auxv", auxv.array());
        assertThat(Host.at(root).pageSize()).isEqualTo(65536);
        assertThat(Host.at(root.resolve("none")).pageSize()).isEqualTo(4096);
    }

    private void write(String path, String text) throws IOException {
        write(path, text.getBytes(UTF_8));
    }

    private void write(String path, byte[] bytes) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }
}
